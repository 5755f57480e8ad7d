#include "mpi/handles/communicators/neighbors.hpp"

#include <map>
#include <utility>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/process/mpi_running.hpp"

namespace resprout::shim {
namespace {

WholeGraph whole_of_mpi(MPI_Comm comm) {
  int nodes = 0;
  int edges = 0;
  PMPI_Graphdims_get(comm, &nodes, &edges);
  WholeGraph graph;
  graph.index.resize(static_cast<std::size_t>(nodes));
  graph.edges.resize(static_cast<std::size_t>(edges));
  PMPI_Graph_get(comm, nodes, edges, graph.index.data(), graph.edges.data());
  return graph;
}

OwnEdges edges_of_mpi(MPI_Comm comm) {
  int sources = 0;
  int destinations = 0;
  int is_weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &is_weighted);
  OwnEdges edges;
  edges.is_weighted = is_weighted != 0;
  edges.sources.resize(static_cast<std::size_t>(sources));
  edges.weights_in.resize(edges.sources.size());
  edges.destinations.resize(static_cast<std::size_t>(destinations));
  edges.weights_out.resize(edges.destinations.size());
  PMPI_Dist_graph_neighbors(comm, sources, edges.sources.data(), edges.weights_in.data(),
                            destinations, edges.destinations.data(), edges.weights_out.data());
  return edges;
}

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
  int degree = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Graph_neighbors_count(comm, rank, &degree);
  Neighbors neighbors;
  neighbors.sources.resize(static_cast<std::size_t>(degree));
  MPI_Graph_neighbors(comm, rank, degree, neighbors.sources.data());
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

std::optional<Graph> graph_of(MPI_Comm comm) {
  if (is_derived(comm)) return communicator_of(comm)->graph;
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_GRAPH) return Graph{whole_of_mpi(comm), std::nullopt};
  if (topology == MPI_DIST_GRAPH) return Graph{std::nullopt, edges_of_mpi(comm)};
  return std::nullopt;
}

Neighbors neighbors_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  if (comm != MPI_COMM_NULL && is_mpi_running()) MPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) return in_grid(comm);
  if (topology == MPI_GRAPH) return in_graph(comm);
  if (topology == MPI_DIST_GRAPH) return in_distributed_graph(*graph_of(comm)->own);
  return {};
}

}  // namespace resprout::shim
