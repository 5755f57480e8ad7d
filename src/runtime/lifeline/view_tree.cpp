// See view_tree.hpp.
#include "runtime/lifeline/view_tree.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "protocols/membership/membership.hpp"
#include "protocols/membership/place_below.hpp"

namespace resprout::runtime {
namespace {

using Ids = protocols::LargeMembership::Ids;

struct Host {
  std::vector<int> ranks;           // ascending
  std::optional<std::size_t> line;  // of the order
  std::size_t group = 0;            // the first line of its group; of no line: behind all others
};

// In the order of their lowest ranks.
std::vector<Host> hosts_of(const RankHosts& job) {
  std::vector<Host> hosts;
  std::map<HostId, std::size_t> known;
  for (std::size_t rank = 0; rank < job.peers.size(); ++rank) {
    const auto [at, is_new] = known.try_emplace(job.peers[rank].host_id, hosts.size());
    if (is_new) hosts.emplace_back();
    hosts[at->second].ranks.push_back(static_cast<int>(rank));
  }
  return hosts;
}

std::size_t first_line_of_group(std::span<const Order::Line> lines, std::size_t line) {
  if (lines[line].group.empty()) return line;
  const auto first = std::ranges::find(lines, lines[line].group, &Order::Line::group);
  return static_cast<std::size_t>(first - lines.begin());
}

// Finds the line of each.
void find_lines(std::vector<Host>& hosts, const RankHosts& job, const Order& order) {
  const std::span<const Order::Line> lines = order.lines();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    Host& host = hosts[i];
    const auto lowest = static_cast<std::size_t>(host.ranks.front());
    host.line = order.find(job.peers[lowest].address.data(), 0, job.names[lowest]);
    host.group = host.line ? first_line_of_group(lines, *host.line) : lines.size() + i;
  }
}

// Gives places to one host after the other.
class Places {
 public:
  Places(topology::RadixTree tree, std::size_t ranks) : tree_(tree), of_rank_(ranks) {}

  // `group`: the places of its group so far, ascending.
  void give(const Host& host, std::vector<std::int32_t>& group) {
    std::vector<std::int32_t> near;
    std::size_t full = 0;  // of `near` the first ones, below whom all is taken
    for (const int rank : host.ranks) {
      const auto open = std::span<const std::int32_t>(near).subspan(full);
      // There are no more ranks than places.
      const std::int32_t id = *protocols::place_below(
          near.empty() ? std::span<const std::int32_t>(group) : open, tree_, 0, taken_);
      taken_.add(rank_at(id));
      while (full < near.size() && near[full] != tree_.parent(id)) ++full;
      if (full == near.size()) full = 0;
      near.insert(std::ranges::upper_bound(near, id), id);
      of_rank_[static_cast<std::size_t>(rank)] = id;
    }
    std::vector<std::int32_t> all;
    std::ranges::merge(group, near, std::back_inserter(all));
    group = std::move(all);
  }

  std::vector<std::int32_t> of_rank() && { return std::move(of_rank_); }

 private:
  topology::RadixTree tree_;
  std::vector<std::int32_t> of_rank_;
  Ids taken_;
};

}  // namespace

ViewTree make_view_tree(topology::RadixTree tree, const RankHosts& hosts,
                        const std::optional<Order>& order) {
  if (hosts.peers.size() > Ids::capacity) return {tree, {}};
  std::vector<Host> in_order = hosts_of(hosts);
  if (order) {
    find_lines(in_order, hosts, *order);
    std::ranges::stable_sort(in_order, {},
                             [](const Host& host) { return std::pair{host.group, host.line}; });
  }
  Places places(tree, hosts.peers.size());
  std::map<std::size_t, std::vector<std::int32_t>> groups;
  std::vector<std::int32_t> alone;
  for (const Host& host : in_order) {
    alone.clear();
    places.give(host, order ? groups[host.group] : alone);
  }
  return {tree, std::move(places).of_rank()};
}

std::vector<int> ranks_in_no_line(const RankHosts& hosts, const Order& order) {
  std::vector<Host> all = hosts_of(hosts);
  find_lines(all, hosts, order);
  std::vector<int> ranks;
  for (const Host& host : all)
    if (!host.line) ranks.push_back(host.ranks.front());
  return ranks;
}

}  // namespace resprout::runtime
