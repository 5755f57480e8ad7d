// New windows: the MPI library makes them, out of communicators that are whole (if_whole.hpp).
#include "shim/collectives/if_whole.hpp"
#include "shim/native/making.hpp"
#include "shim/remade/spares.hpp"
#include "shim/replication/lone_calls.hpp"
#include "shim/windows.hpp"

using namespace resprout::shim;

namespace {

// `native()` is MPI's own call. If a loss falls into it the library calls that an error of windows,
// or does not come back.
template <typename Native>
int try_making(MPI_Comm comm, const char* name, Native native) {
  if (World::current() == nullptr || comm == MPI_COMM_NULL) return native();
  int code = MPI_SUCCESS;
  {
    const LoneCall alone(comm, name);
    const QuietMaking quiet;
    const Making making;
    code = native();
    if (code != MPI_SUCCESS) alone.end_if_lost();
  }
  return has_met_loss(code) ? finish(comm, name, proc_failed()) : code;
}

template <typename Native>
int make_window(MPI_Comm comm, const char* name, MPI_Win* made, Native native) {
  const int code = if_whole(comm, name, [&] { return try_making(comm, name, native); });
  if (code == MPI_SUCCESS) note_window(*made);
  return code;
}

}  // namespace

extern "C" int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info,
                              MPI_Comm comm, MPI_Win* win) {
  return make_window(comm, "win_create", win,
                     [&] { return PMPI_Win_create(base, size, disp_unit, info, comm, win); });
}

extern "C" int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                void* baseptr, MPI_Win* win) {
  return make_window(comm, "win_allocate", win,
                     [&] { return PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win); });
}

extern "C" int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                       void* baseptr, MPI_Win* win) {
  return make_window(comm, "win_allocate_shared", win, [&] {
    return PMPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
  });
}

extern "C" int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make_window(comm, "win_create_dynamic", win,
                     [&] { return PMPI_Win_create_dynamic(info, comm, win); });
}
