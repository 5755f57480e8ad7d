// New windows, and files that are not to be opened apart (files/apart.hpp): the MPI library makes
// them, out of communicators that are whole. On one that has lost a member it would wait for ever,
// or fail at some members only; there all members get the same error. Of a remade communicator it
// does not know who is in it.
//
// All members agree on that in a barrier of ours, so that none of them enters MPI without the
// others. Somebody may still be lost while MPI is at it. Nobody enters it with a communicator that
// is revoked: Open MPI 5.0 does not live through that.
#include <optional>

#include "shim/collectives/call.hpp"
#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/files/apart.hpp"
#include "shim/files/calls.hpp"
#include "shim/remade/remade.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/revocations.hpp"
#include "shim/world.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

bool is_whole(CollectiveCall& call) { return call.session().members().size() == call.size(); }

// Not where nobody is to go on after a loss, as in planes of replicas but where siblings stand in.
// With a hint the MPI library opens it.
bool opens_apart(CollectiveCall& call, MPI_Info info) {
  const Options& options = World::current()->options();
  if (options.is_replicated() && !options.stands_in()) return false;
  const bool speaks = index(call.session().members().self()) == 0;
  if (!ulfm::is_active() || is_opened_together(info, speaks)) return false;
  return options.on_loss != OnLoss::error || is_whole(call);
}

// `name`: the lower-case MPI name; `native`: MPI's own call; `otherwise`: what the call returns if
// something else is done. All members are here.
template <typename Native, typename Otherwise>
int if_whole(MPI_Comm comm, const char* name, Native native, Otherwise otherwise) {
  CollectiveCall call(comm, name);
  if (!call.is_ours()) {
    const bool is_valid = World::current() != nullptr && comm != MPI_COMM_NULL;
    if (is_valid && is_revoked(comm)) return finish(comm, name, ulfm::revoked_class());
    return call.leave_to(native);
  }
  const runtime::Outcome outcome = call.session().barrier(call.lock());
  if (call.session().is_revoked()) return call.finish(outcome);
  if (const std::optional<int> code = otherwise(call)) return *code;
  if (!is_whole(call)) return call.finish(outcome, proc_failed());
  if (call.communicator().remade) return call.leave_to([&] { return refuse_remade(comm, name); });
  // Who has seen a loss in the barrier must do as all others do.
  return call.leave_to(native);
}

template <typename Native>
int if_whole(MPI_Comm comm, const char* name, Native native) {
  return if_whole(comm, name, native, [](CollectiveCall&) -> std::optional<int> { return {}; });
}

}  // namespace

extern "C" int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info,
                              MPI_Comm comm, MPI_Win* win) {
  return if_whole(comm, "win_create",
                  [&] { return PMPI_Win_create(base, size, disp_unit, info, comm, win); });
}

extern "C" int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                void* baseptr, MPI_Win* win) {
  return if_whole(comm, "win_allocate",
                  [&] { return PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win); });
}

extern "C" int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                       void* baseptr, MPI_Win* win) {
  return if_whole(comm, "win_allocate_shared", [&] {
    return PMPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
  });
}

extern "C" int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return if_whole(comm, "win_create_dynamic",
                  [&] { return PMPI_Win_create_dynamic(info, comm, win); });
}

extern "C" int MPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info,
                             MPI_File* fh) {
  return if_whole(
      comm, "file_open", [&] { return open_file(comm, filename, amode, info, fh); },
      [&](CollectiveCall& call) -> std::optional<int> {
        if (!opens_apart(call, info)) return {};
        return open_apart(call, comm, filename, amode, info, fh);
      });
}
