// The calls that look for a message: MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe.
#include "shim/collectives/nonblocking/under_way.hpp"
#include "shim/peers.hpp"
#include "shim/ulfm.hpp"

using namespace resprout::shim;

namespace {

// How often MPI is asked for what a process may have sent before it was lost.
constexpr int last_looks = 1000;

// `look(source, flag)` is MPI's non-blocking call, `blocking(source)` the one that waits.
template <typename Look>
int look_once(MPI_Comm comm, int source, int tag, int& flag, Look look) {
  int code = MPI_SUCCESS;
  do {
    code = look(source, flag);
  } while (goes_on(comm, source, tag, code));
  if (code != MPI_SUCCESS || flag != 0 || ulfm::is_active()) return code;
  if (!has_anything_happened() || !is_hopeless(comm, source)) return code;
  for (int i = 0; i < last_looks && code == MPI_SUCCESS && flag == 0; ++i)
    code = look(source, flag);
  return code == MPI_SUCCESS && flag == 0 ? code_of_loss(comm) : code;
}

template <typename Blocking, typename Look>
int look_until(MPI_Comm comm, int source, int tag, Blocking blocking, Look look) {
  int code = MPI_SUCCESS;
  if (ulfm::is_active() && !is_any_under_way()) {
    do {
      code = blocking(source);
    } while (goes_on(comm, source, tag, code));
    return code;
  }
  Patience patience;
  for (int flag = 0;;) {
    code = look_once(comm, source, tag, flag, look);
    if (code != MPI_SUCCESS || flag != 0) return code;
    patience.pause();
  }
}

}  // namespace

extern "C" int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const auto blocking = [&](int from) { return PMPI_Probe(from, tag, comm, status); };
  GuardedCall call("probe", comm, source);
  if (!call.is_ours()) return blocking(source);
  return call.finish(look_until(comm, source, tag, blocking, [&](int from, int& flag) {
    return PMPI_Iprobe(from, tag, comm, &flag, status);
  }));
}

extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  GuardedCall call("iprobe", comm, source);
  if (!call.is_ours()) return PMPI_Iprobe(source, tag, comm, flag, status);
  return call.finish(look_once(comm, source, tag, *flag, [&](int from, int& found) {
    return PMPI_Iprobe(from, tag, comm, &found, status);
  }));
}

extern "C" int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                          MPI_Status* status) {
  const auto blocking = [&](int from) { return PMPI_Mprobe(from, tag, comm, message, status); };
  GuardedCall call("mprobe", comm, source);
  if (!call.is_ours()) return blocking(source);
  return call.finish(look_until(comm, source, tag, blocking, [&](int from, int& flag) {
    return PMPI_Improbe(from, tag, comm, &flag, message, status);
  }));
}

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                           MPI_Status* status) {
  GuardedCall call("improbe", comm, source);
  if (!call.is_ours()) return PMPI_Improbe(source, tag, comm, flag, message, status);
  return call.finish(look_once(comm, source, tag, *flag, [&](int from, int& found) {
    return PMPI_Improbe(from, tag, comm, &found, message, status);
  }));
}
