// New windows and files: the MPI library makes them, out of communicators that are whole. On one
// that has lost a member it would wait for ever, or fail at some members only; there all members
// get the same error. Of a remade communicator it does not know who is in it.
//
// All members agree on that in a barrier of ours, so that none of them enters MPI without the
// others. Somebody may still be lost while MPI is at it. Nobody enters it with a communicator that
// is revoked: Open MPI 5.0 does not live through that.
#include "shim/collectives/call.hpp"
#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/files/calls.hpp"
#include "shim/remade/remade.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/revocations.hpp"
#include "shim/world.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// `name`: the lower-case MPI name; `native`: MPI's own call.
template <typename Native>
int if_whole(MPI_Comm comm, const char* name, Native native) {
  CollectiveCall call(comm, name);
  if (!call.is_ours()) {
    const bool is_valid = World::current() != nullptr && comm != MPI_COMM_NULL;
    if (is_valid && is_revoked(comm)) return finish(comm, name, ulfm::revoked_class());
    return call.leave_to(native);
  }
  const runtime::Outcome outcome = call.session().barrier(call.lock());
  if (call.session().is_revoked()) return call.finish(outcome);
  if (call.session().members().size() < call.size()) return call.finish(outcome, proc_failed());
  if (call.communicator().remade) return call.leave_to([&] { return refuse_remade(comm, name); });
  // Who has seen a loss in the barrier must do as all others do.
  return call.leave_to(native);
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
  return if_whole(comm, "file_open", [&] { return open_file(comm, filename, amode, info, fh); });
}
