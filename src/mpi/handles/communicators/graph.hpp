// Graphs of derived communicators, whose handles have no topology in the MPI library, and what it
// knows of its own. Edges in the order in which the program gave them (MPI 3.1, chapter 7).
#pragma once

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

}  // namespace resprout::shim
