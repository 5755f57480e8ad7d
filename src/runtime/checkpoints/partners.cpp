#include "runtime/checkpoints/partners.hpp"

#include <algorithm>

namespace resprout::runtime {

std::vector<int> partners_of(std::span<const int> hosts) {
  std::vector<int> order;
  std::vector<std::vector<int>> ranks;  // by place in `order`
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto at = std::find(order.begin(), order.end(), hosts[rank]);
    const auto place = static_cast<std::size_t>(at - order.begin());
    if (at == order.end()) {
      order.push_back(hosts[rank]);
      ranks.emplace_back();
    }
    ranks[place].push_back(static_cast<int>(rank));
  }
  std::vector<int> partners(hosts.size(), -1);
  if (order.size() < 2) return partners;
  for (std::size_t host = 0; host < order.size(); ++host) {
    const std::vector<int>& next = ranks[(host + 1) % order.size()];
    for (std::size_t i = 0; i < ranks[host].size(); ++i)
      partners[static_cast<std::size_t>(ranks[host][i])] = next[i % next.size()];
  }
  return partners;
}

std::vector<int> ranks_beside(std::span<const int> hosts, int rank) {
  std::vector<int> found;
  for (std::size_t other = 0; other < hosts.size(); ++other)
    if (hosts[other] == hosts[static_cast<std::size_t>(rank)])
      found.push_back(static_cast<int>(other));
  return found;
}

}  // namespace resprout::runtime
