#include "mpi/handles/communicators/graph.hpp"

namespace resprout::shim {

std::vector<int> WholeGraph::neighbors_of(int rank) const {
  const int first = rank == 0 ? 0 : index[static_cast<std::size_t>(rank - 1)];
  return {edges.begin() + first, edges.begin() + index[static_cast<std::size_t>(rank)]};
}

}  // namespace resprout::shim
