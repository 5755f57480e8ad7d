#include "mpi/operations/communicators/graph_edges.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"

namespace resprout::shim {
namespace {

struct Edge {
  int source = 0;
  int target = 0;
  int weight = 0;
};
constexpr int words_of_edge = 3;

// What each says: how many words its edges have, and whether they have weights.
using Said = std::array<int, 2>;

// Who names no edge gives no weights, though MPI says that all do or nobody; of a graph without
// edges there is nothing else to go by.
bool are_weighted(const std::vector<Said>& all) {
  const auto names_edges = [](const Said& it) { return it[0] != 0; };
  const bool is_empty = std::none_of(all.begin(), all.end(), names_edges);
  return std::any_of(all.begin(), all.end(),
                     [&](const Said& it) { return it[1] != 0 && (is_empty || names_edges(it)); });
}

}  // namespace

OwnEdges gathered_edges(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                        const int targets[], const int weights[]) {
  const bool is_mine_weighted = weights != MPI_UNWEIGHTED;
  std::vector<Edge> mine;
  for (int i = 0, at = 0; i < n; ++i)
    for (int k = 0; k < degrees[i]; ++k, ++at)
      mine.push_back({nodes[i], targets[at], is_mine_weighted ? weights[at] : 0});
  const Said said{static_cast<int>(mine.size()) * words_of_edge, is_mine_weighted ? 1 : 0};
  const std::size_t size = communicator_of(comm)->world_ranks.size();
  std::vector<Said> all(size);
  MPI_Allgather(said.data(), 2, MPI_INT, all.data(), 2, MPI_INT, comm);
  std::vector<int> counts;
  for (const auto& words : all) counts.push_back(words[0]);
  std::vector<int> places(size);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  std::vector<Edge> edges(
      static_cast<std::size_t>((places.back() + counts.back()) / words_of_edge));
  MPI_Allgatherv(mine.data(), said[0], MPI_INT, edges.data(), counts.data(), places.data(), MPI_INT,
                 comm);
  OwnEdges own;
  own.is_weighted = are_weighted(all);
  const int self = communicator_of(comm)->rank;
  for (const Edge& edge : edges) {
    if (edge.target == self) {
      own.sources.push_back(edge.source);
      own.weights_in.push_back(edge.weight);
    }
    if (edge.source == self) {
      own.destinations.push_back(edge.target);
      own.weights_out.push_back(edge.weight);
    }
  }
  return own;
}

}  // namespace resprout::shim
