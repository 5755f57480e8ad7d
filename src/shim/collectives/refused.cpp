// New communicators, windows and files: the MPI library makes them, out of communicators that are
// whole. On one that has lost a member it would wait for ever, or fail at some members only; there
// all members get the same error.
//
// All members agree on that in a barrier of ours, so that none of them enters MPI without the
// others. Somebody may still be lost while MPI is at it.
//
// A new communicator gets its session, and a private one of the library's (native/natives.hpp), at
// once. Then there is another barrier: nobody may revoke it before all have it, because Open MPI
// 5.0 does not live through that.
#include "shim/collectives/call.hpp"
#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/native/natives.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// `name`: the lower-case MPI name; `native`: MPI's own call.
template <typename Native>
int if_whole(MPI_Comm comm, const char* name, Native native) {
  CollectiveCall call(comm, name);
  if (!call.is_ours()) return call.leave_to(native);
  const runtime::Outcome outcome = call.session().barrier(call.lock());
  if (call.session().members().size() < call.size()) return call.finish(outcome, proc_failed());
  // Who has seen a loss in the barrier must do as all others do.
  return call.leave_to(native);
}

// The same for a call that makes a communicator.
template <typename Native>
int make_if_whole(MPI_Comm comm, const char* name, MPI_Comm* made, Native native) {
  CollectiveCall call(comm, name);
  if (!call.is_ours()) return call.leave_to(native);
  const runtime::Outcome outcome = call.session().barrier(call.lock());
  if (call.session().members().size() < call.size()) return call.finish(outcome, proc_failed());
  const std::uint64_t child = call.session().next_child();
  call.lock().unlock();
  const int code = native();
  if (code == MPI_SUCCESS) make_native(*made);
  call.lock().lock();
  if (code == MPI_SUCCESS) open_communicator(*made, child, call.lock());
  call.session().barrier(call.lock());
  return call.leave_to([&] { return code; });
}

}  // namespace

extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return make_if_whole(comm, "comm_dup", newcomm, [&] { return PMPI_Comm_dup(comm, newcomm); });
}

extern "C" int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return make_if_whole(comm, "comm_dup_with_info", newcomm,
                       [&] { return PMPI_Comm_dup_with_info(comm, info, newcomm); });
}

extern "C" int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return make_if_whole(comm, "comm_split", newcomm,
                       [&] { return PMPI_Comm_split(comm, color, key, newcomm); });
}

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                                   MPI_Comm* newcomm) {
  return make_if_whole(comm, "comm_split_type", newcomm,
                       [&] { return PMPI_Comm_split_type(comm, split_type, key, info, newcomm); });
}

extern "C" int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return make_if_whole(comm, "comm_create", newcomm,
                       [&] { return PMPI_Comm_create(comm, group, newcomm); });
}

extern "C" int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[],
                               int reorder, MPI_Comm* newcomm) {
  return make_if_whole(comm, "cart_create", newcomm, [&] {
    return PMPI_Cart_create(comm, ndims, dims, periods, reorder, newcomm);
  });
}

extern "C" int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return make_if_whole(comm, "cart_sub", newcomm,
                       [&] { return PMPI_Cart_sub(comm, remain_dims, newcomm); });
}

extern "C" int MPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                                int reorder, MPI_Comm* newcomm) {
  return make_if_whole(comm, "graph_create", newcomm, [&] {
    return PMPI_Graph_create(comm, nnodes, index, edges, reorder, newcomm);
  });
}

extern "C" int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                                     const int targets[], const int weights[], MPI_Info info,
                                     int reorder, MPI_Comm* newcomm) {
  return make_if_whole(comm, "dist_graph_create", newcomm, [&] {
    return PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder,
                                  newcomm);
  });
}

extern "C" int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                              const int sourceweights[], int outdegree,
                                              const int destinations[], const int destweights[],
                                              MPI_Info info, int reorder, MPI_Comm* newcomm) {
  return make_if_whole(comm, "dist_graph_create_adjacent", newcomm, [&] {
    return PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree,
                                           destinations, destweights, info, reorder, newcomm);
  });
}

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
  return if_whole(comm, "file_open",
                  [&] { return PMPI_File_open(comm, filename, amode, info, fh); });
}
