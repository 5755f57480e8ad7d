// What MPI would say of the handle of a derived communicator is true of its blank: these say it of
// the communicator.
#include <algorithm>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"

using namespace resprout::shim;

namespace {

// Null: MPI knows what it has.
const Grid* grid_below(MPI_Comm comm) {
  if (!is_derived(comm)) return nullptr;
  const auto& grid = communicator_of(comm)->grid;
  return grid ? &*grid : nullptr;
}

}  // namespace

extern "C" int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  if (!is_derived(comm)) return PMPI_Comm_rank(comm, rank);
  *rank = communicator_of(comm)->rank;
  return MPI_SUCCESS;
}

extern "C" int MPI_Comm_size(MPI_Comm comm, int* size) {
  if (!is_derived(comm)) return PMPI_Comm_size(comm, size);
  *size = static_cast<int>(communicator_of(comm)->world_ranks.size());
  return MPI_SUCCESS;
}

extern "C" int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) { return group_of(comm, group); }

extern "C" int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result) {
  if (!is_derived(one) && !is_derived(other)) return PMPI_Comm_compare(one, other, result);
  std::vector<int> members = communicator_of(one)->world_ranks;
  std::vector<int> others = communicator_of(other)->world_ranks;
  *result = MPI_UNEQUAL;
  if (communicator_of(one)->is_inter || communicator_of(other)->is_inter) return MPI_SUCCESS;
  if (one == other) {
    *result = MPI_IDENT;
  } else if (members == others) {
    *result = MPI_CONGRUENT;
  } else {
    std::sort(members.begin(), members.end());
    std::sort(others.begin(), others.end());
    if (members == others) *result = MPI_SIMILAR;
  }
  return MPI_SUCCESS;
}

extern "C" int MPI_Topo_test(MPI_Comm comm, int* status) {
  const auto* graph = is_derived(comm) ? &communicator_of(comm)->graph : nullptr;
  const bool has_graph = graph != nullptr && graph->has_value();
  if (grid_below(comm) == nullptr && !has_graph) return PMPI_Topo_test(comm, status);
  *status = !has_graph ? MPI_CART : (*graph)->whole ? MPI_GRAPH : MPI_DIST_GRAPH;
  return MPI_SUCCESS;
}

extern "C" int MPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  const Grid* grid = grid_below(comm);
  if (grid == nullptr) return PMPI_Cartdim_get(comm, ndims);
  *ndims = static_cast<int>(grid->dims.size());
  return MPI_SUCCESS;
}

extern "C" int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  const Grid* grid = grid_below(comm);
  if (grid == nullptr) return PMPI_Cart_get(comm, maxdims, dims, periods, coords);
  const std::vector<int> own = grid->coordinates_of(communicator_of(comm)->rank);
  const std::size_t count = std::min(own.size(), static_cast<std::size_t>(std::max(maxdims, 0)));
  std::copy_n(grid->dims.begin(), count, dims);
  std::copy_n(grid->periods.begin(), count, periods);
  std::copy_n(own.begin(), count, coords);
  return MPI_SUCCESS;
}

extern "C" int MPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  const Grid* grid = grid_below(comm);
  if (grid == nullptr) return PMPI_Cart_rank(comm, coords, rank);
  *rank = grid->rank_at(coords);
  return *rank >= 0 ? MPI_SUCCESS : finish(comm, "cart_rank", MPI_ERR_ARG);
}

extern "C" int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  const Grid* grid = grid_below(comm);
  if (grid == nullptr) return PMPI_Cart_coords(comm, rank, maxdims, coords);
  if (rank < 0 || rank >= grid->size()) return finish(comm, "cart_coords", MPI_ERR_RANK);
  const std::vector<int> found = grid->coordinates_of(rank);
  std::copy_n(found.begin(), std::min(found.size(), static_cast<std::size_t>(std::max(maxdims, 0))),
              coords);
  return MPI_SUCCESS;
}

extern "C" int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source,
                              int* rank_dest) {
  const Grid* grid = grid_below(comm);
  if (grid == nullptr) return PMPI_Cart_shift(comm, direction, disp, rank_source, rank_dest);
  if (direction < 0 || direction >= static_cast<int>(grid->dims.size()))
    return finish(comm, "cart_shift", MPI_ERR_DIMS);
  const auto neighbor = [&](int distance) {
    std::vector<int> coordinates = grid->coordinates_of(communicator_of(comm)->rank);
    coordinates[static_cast<std::size_t>(direction)] += distance;
    return grid->rank_at(coordinates.data());
  };
  *rank_source = neighbor(-disp);
  *rank_dest = neighbor(disp);
  return MPI_SUCCESS;
}
