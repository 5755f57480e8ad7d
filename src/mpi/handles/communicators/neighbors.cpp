#include "mpi/handles/communicators/neighbors.hpp"

#include <map>
#include <utility>

#include "mpi/handles/communicators/graph.hpp"
#include "mpi/process/mpi_running.hpp"

namespace resprout::shim {
namespace {

// How often each was named before.
std::vector<int> counted(const std::vector<int>& neighbors) {
  std::map<int, int> counts;
  std::vector<int> numbers;
  for (const int rank : neighbors) numbers.push_back(counts[rank]++);
  return numbers;
}

Neighbors in_grid(MPI_Comm comm) {
  int dimensions = 0;
  MPI_Cartdim_get(comm, &dimensions);
  Neighbors neighbors;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int down = MPI_PROC_NULL;
    int up = MPI_PROC_NULL;
    MPI_Cart_shift(comm, dimension, 1, &down, &up);
    neighbors.sources.insert(neighbors.sources.end(), {down, up});
    neighbors.numbers_out.insert(neighbors.numbers_out.end(), {2 * dimension, 2 * dimension + 1});
    neighbors.numbers_in.insert(neighbors.numbers_in.end(), {2 * dimension + 1, 2 * dimension});
  }
  neighbors.destinations = neighbors.sources;
  return neighbors;
}

Neighbors in_graph(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Graph_neighbors_count(comm, rank, &count);
  Neighbors neighbors;
  neighbors.sources.resize(static_cast<std::size_t>(count));
  MPI_Graph_neighbors(comm, rank, count, neighbors.sources.data());
  neighbors.destinations = neighbors.sources;
  neighbors.numbers_in = neighbors.numbers_out = counted(neighbors.sources);
  return neighbors;
}

Neighbors in_distributed_graph(OwnEdges edges) {
  Neighbors neighbors;
  neighbors.numbers_in = counted(edges.sources);
  neighbors.numbers_out = counted(edges.destinations);
  neighbors.sources = std::move(edges.sources);
  neighbors.destinations = std::move(edges.destinations);
  return neighbors;
}

}  // namespace

Neighbors neighbors_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  if (comm != MPI_COMM_NULL && is_mpi_running()) MPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) return in_grid(comm);
  if (topology == MPI_GRAPH) return in_graph(comm);
  if (topology == MPI_DIST_GRAPH) return in_distributed_graph(*graph_of(comm)->own);
  return {};
}

}  // namespace resprout::shim
