// As queries.cpp, of graphs.
#include <algorithm>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"

using namespace resprout::shim;

namespace {

// Null: MPI knows what it has.
const Graph* graph_of_derived(MPI_Comm comm) {
  if (!is_derived(comm)) return nullptr;
  const auto& graph = communicator_of(comm)->graph;
  return graph ? &*graph : nullptr;
}

const WholeGraph* whole_of(MPI_Comm comm) {
  const Graph* graph = graph_of_derived(comm);
  return graph != nullptr && graph->whole ? &*graph->whole : nullptr;
}

const OwnEdges* edges_of(MPI_Comm comm) {
  const Graph* graph = graph_of_derived(comm);
  return graph != nullptr && graph->own ? &*graph->own : nullptr;
}

void copy(const std::vector<int>& from, int most, int to[]) {
  std::copy_n(from.begin(), std::min(from.size(), static_cast<std::size_t>(std::max(most, 0))), to);
}

}  // namespace

extern "C" int MPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  const WholeGraph* graph = whole_of(comm);
  if (graph == nullptr) return PMPI_Graphdims_get(comm, nnodes, nedges);
  *nnodes = static_cast<int>(graph->index.size());
  *nedges = static_cast<int>(graph->edges.size());
  return MPI_SUCCESS;
}

extern "C" int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
  const WholeGraph* graph = whole_of(comm);
  if (graph == nullptr) return PMPI_Graph_get(comm, maxindex, maxedges, index, edges);
  copy(graph->index, maxindex, index);
  copy(graph->edges, maxedges, edges);
  return MPI_SUCCESS;
}

extern "C" int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  const WholeGraph* graph = whole_of(comm);
  if (graph == nullptr) return PMPI_Graph_neighbors_count(comm, rank, nneighbors);
  if (rank < 0 || rank >= static_cast<int>(graph->index.size()))
    return finish(comm, "graph_neighbors_count", MPI_ERR_RANK);
  *nneighbors = static_cast<int>(graph->neighbors_of(rank).size());
  return MPI_SUCCESS;
}

extern "C" int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  const WholeGraph* graph = whole_of(comm);
  if (graph == nullptr) return PMPI_Graph_neighbors(comm, rank, maxneighbors, neighbors);
  if (rank < 0 || rank >= static_cast<int>(graph->index.size()))
    return finish(comm, "graph_neighbors", MPI_ERR_RANK);
  copy(graph->neighbors_of(rank), maxneighbors, neighbors);
  return MPI_SUCCESS;
}

extern "C" int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree,
                                              int* weighted) {
  const OwnEdges* edges = edges_of(comm);
  if (edges == nullptr) return PMPI_Dist_graph_neighbors_count(comm, indegree, outdegree, weighted);
  *indegree = static_cast<int>(edges->sources.size());
  *outdegree = static_cast<int>(edges->destinations.size());
  *weighted = edges->is_weighted ? 1 : 0;
  return MPI_SUCCESS;
}

extern "C" int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[],
                                        int sourceweights[], int maxoutdegree, int destinations[],
                                        int destweights[]) {
  const OwnEdges* edges = edges_of(comm);
  if (edges == nullptr)
    return PMPI_Dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree,
                                     destinations, destweights);
  copy(edges->sources, maxindegree, sources);
  copy(edges->destinations, maxoutdegree, destinations);
  if (!edges->is_weighted) return MPI_SUCCESS;
  copy(edges->weights_in, maxindegree, sourceweights);
  copy(edges->weights_out, maxoutdegree, destweights);
  return MPI_SUCCESS;
}
