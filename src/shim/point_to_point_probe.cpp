// The calls that look for a message: MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe; and those that
// receive what was found: MPI_Mrecv, MPI_Imrecv.
#include <mutex>
#include <unordered_map>

#include "shim/collectives/nonblocking/under_way.hpp"
#include "shim/peers.hpp"
#include "shim/pending.hpp"
#include "shim/remade/remade.hpp"
#include "shim/replication/gaps.hpp"
#include "shim/replication/masking.hpp"
#include "shim/replication/messages.hpp"
#include "shim/replication/receives.hpp"
#include "shim/replication/wildcards.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/revocations.hpp"

using namespace resprout::shim;

namespace {

// How often MPI is asked for what a process may have sent before it was lost.
constexpr int last_looks = 1000;

// MPI tells of losses, and ends what waits inside of it.
bool is_noticing(MPI_Comm comm) { return ulfm::is_active() && !is_remade(comm); }

// `look(from, flag)` is MPI's non-blocking call, `blocking(from)` the one that waits.
template <typename Look>
int look_once(MPI_Comm comm, int source, int tag, int& flag, Look look) {
  // Where MPI does not know that it is revoked it may still have a message.
  if (is_revoked(comm)) return code_of_loss(comm);
  int code = MPI_SUCCESS;
  do {
    code = look(address_of(comm, source), flag);
  } while (goes_on(comm, source, tag, code));
  if (code != MPI_SUCCESS || flag != 0 || is_noticing(comm)) return code;
  if (!has_anything_happened() || !is_hopeless(comm, source)) return code;
  for (int i = 0; i < last_looks && code == MPI_SUCCESS && flag == 0; ++i)
    code = look(address_of(comm, source), flag);
  return code == MPI_SUCCESS && flag == 0 ? code_of_loss(comm) : code;
}

template <typename Blocking, typename Look>
int look_until(MPI_Comm comm, int source, int tag, Blocking blocking, Look look) {
  int code = MPI_SUCCESS;
  if (is_noticing(comm) && !is_any_under_way()) {
    do {
      code = blocking(address_of(comm, source));
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

// As MPI_Probe; from a lost process, too, if siblings stand in for it.
int probe(MPI_Comm comm, const Decided::From& wanted, MPI_Status* status) {
  const auto [source, tag] = wanted;
  if (is_stood_in_for(comm, source)) return probe_in_gap(comm, source, tag, status);
  const int code = look_until(
      comm, source, tag,
      [&](Address from) { return PMPI_Probe(from.peer, tag, from.comm, status); },
      [&](Address from, int& flag) {
        return PMPI_Iprobe(from.peer, tag, from.comm, &flag, status);
      });
  if (code == MPI_SUCCESS) name_source(comm, status);
  const bool is_masked = is_loss(code) && masking.load(std::memory_order_acquire) != nullptr;
  return is_masked ? probe_in_gap(comm, source, tag, status) : code;
}

// Messages that were matched on remade communicators: MPI does not say where.
struct Matched {
  std::mutex mutex;
  std::unordered_map<MPI_Message, MPI_Comm> comms;
};

Matched& matched() {
  static auto* instance = new Matched;
  return *instance;
}

void note_matched(MPI_Message message, MPI_Comm comm) {
  if (message == MPI_MESSAGE_NULL || !is_remade(comm)) return;
  const std::scoped_lock lock(matched().mutex);
  matched().comms[message] = comm;
}

// MPI_COMM_NULL if MPI knows more than we do.
MPI_Comm forget_matched(MPI_Message message) {
  if (!is_any_remade()) return MPI_COMM_NULL;
  const std::scoped_lock lock(matched().mutex);
  const auto found = matched().comms.extract(message);
  return found.empty() ? MPI_COMM_NULL : found.mapped();
}

// What was matched has its place among the messages of its stream.
void note_verified(MPI_Message message, MPI_Comm comm, const MPI_Status& status) {
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  if (messages == nullptr) return;
  if (const auto ticket = messages->post(comm, status.MPI_SOURCE, status.MPI_TAG))
    messages->remember(message, *ticket);
}

}  // namespace

extern "C" int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  GuardedCall call("probe", comm, source);
  if (!call.is_ours()) return PMPI_Probe(source, tag, comm, status);
  const Decided::From found = decided_source(comm, source, tag);
  wait_until_clear(comm, found.source, found.tag);
  return call.finish(probe(comm, found, status));
}

extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  GuardedCall call("iprobe", comm, source);
  if (!call.is_ours()) return PMPI_Iprobe(source, tag, comm, flag, status);
  if (Decided* by = decided.load(std::memory_order_acquire)) {
    const auto found = by->iprobe([&] { return look_for_message(comm, source, tag); });
    *flag = found ? 1 : 0;
    if (!found) return MPI_SUCCESS;
    wait_until_clear(comm, found->source, found->tag);
    return call.finish(probe(comm, *found, status));
  }
  const int code = look_once(comm, source, tag, *flag, [&](Address from, int& found) {
    return PMPI_Iprobe(from.peer, tag, from.comm, &found, status);
  });
  if (code == MPI_SUCCESS && *flag != 0) name_source(comm, status);
  return call.finish(code);
}

extern "C" int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                          MPI_Status* status) {
  MPI_Status found;
  const auto blocking = [&](Address from) {
    return PMPI_Mprobe(from.peer, tag, from.comm, message, &found);
  };
  GuardedCall call("mprobe", comm, source);
  if (!call.is_ours()) return PMPI_Mprobe(source, tag, comm, message, status);
  const Decided::From wanted = decided_source(comm, source, tag);
  source = wanted.source;
  tag = wanted.tag;
  wait_until_clear(comm, source, tag);
  const int code = look_until(comm, source, tag, blocking, [&](Address from, int& flag) {
    return PMPI_Improbe(from.peer, tag, from.comm, &flag, message, &found);
  });
  if (code == MPI_SUCCESS) {
    name_source(comm, &found);
    copy_status(found, status);
    note_matched(*message, comm);
    note_verified(*message, comm, found);
  }
  return call.finish(code);
}

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                           MPI_Status* status) {
  GuardedCall call("improbe", comm, source);
  if (!call.is_ours()) return PMPI_Improbe(source, tag, comm, flag, message, status);
  if (Decided* by = decided.load(std::memory_order_acquire)) {
    const auto found = by->iprobe([&] { return look_for_message(comm, source, tag); });
    *flag = found ? 1 : 0;
    return found ? MPI_Mprobe(found->source, found->tag, comm, message, status) : MPI_SUCCESS;
  }
  const int code = look_once(comm, source, tag, *flag, [&](Address from, int& found) {
    return PMPI_Improbe(from.peer, tag, from.comm, &found, message, status);
  });
  if (code == MPI_SUCCESS && *flag != 0) {
    name_source(comm, status);
    note_matched(*message, comm);
  }
  return call.finish(code);
}

// Its beginning is here; the rest of a long one may never come if its sender is lost meanwhile.
extern "C" int MPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                         MPI_Status* status) {
  const MPI_Comm comm = forget_matched(*message);
  VerifiedReceive verified({"mrecv", buf, count, datatype}, *message);
  const int code = PMPI_Mrecv(buf, count, datatype, message, verified.status(status));
  verified.complete(status);
  if (comm != MPI_COMM_NULL) name_source(comm, status);
  return code;
}

extern "C" int MPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                          MPI_Request* request) {
  const MPI_Comm comm = forget_matched(*message);
  VerifiedReceive verified({"imrecv", buf, count, datatype}, *message);
  const int code = PMPI_Imrecv(buf, count, datatype, message, request);
  if (code == MPI_SUCCESS) verified.go_on_as(*request);
  if (comm != MPI_COMM_NULL && code == MPI_SUCCESS) remember(*request, {comm, MPI_ANY_SOURCE});
  return code;
}
