// Graphs of remade communicators, whose handles have no topology in the MPI library, and what it
// knows of its own. Edges in the order in which the program gave them (MPI 3.1, chapter 7).
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

namespace resprout::shim {

// MPI_GRAPH: everybody knows all of it. `index[i]`: so many edges have the nodes up to i.
struct WholeGraph {
  std::vector<int> index;
  std::vector<int> edges;

  std::vector<int> neighbors_of(int rank) const;
};

// MPI_DIST_GRAPH: each process knows the edges that come in and go out.
struct OwnEdges {
  bool is_weighted = false;
  std::vector<int> sources;
  std::vector<int> weights_in;  // as many as sources if it is weighted, else none
  std::vector<int> destinations;
  std::vector<int> weights_out;
};

struct Graph {
  std::optional<WholeGraph> whole;
  std::optional<OwnEdges> own;  // unless `whole`
};

// Nothing: it is no graph.
std::optional<Graph> graph_of(MPI_Comm comm);

// Of MPI_Dist_graph_create: what this process has to say to MPI_Dist_graph_create_adjacent, in the
// order of the ranks that named the edges. Collective over `comm`.
OwnEdges gathered_edges(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                        const int targets[], const int weights[]);

}  // namespace resprout::shim
