// Which place in the radix tree of a job's views each of its ranks has: Scalable Membership,
// section 3.1, wants neighbors in the tree to be near each other in the network.
//
// Host after host, in the order of their lowest ranks; or group after group, and host after host
// within each, as an order (net/order.hpp) has them, and last the hosts in no line. The first rank
// of all has place 0, the first of a group the lowest place that is free, the first of a host the
// lowest that is free below its group, each further rank the lowest that is free below its host.
// So, as long as there is room below them,
//  1. a rank has its parent on its host, but for the first of the host: N hosts are joined by N - 1
//     edges;
//  2. of those N - 1, as many are between groups as there are groups, less one.
// All are different. One process says where everybody stands, and the others take it over.
//
// Thread rule: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/lifeline/peer_address.hpp"
#include "runtime/net/order.hpp"
#include "topology/radix_tree.hpp"

namespace resprout::runtime {

struct ViewTree {
  topology::RadixTree tree{4};
  std::vector<std::int32_t> places;  // by rank; empty: of more ranks than there are places
};

// Those of the job, by rank.
struct RankHosts {
  std::span<const PeerAddress> peers;
  std::span<const std::string> names;  // of hosts; empty if there is no order
};

ViewTree make_view_tree(topology::RadixTree tree, const RankHosts& hosts,
                        const std::optional<Order>& order = {});

// Of each host that stands in no line the lowest rank.
std::vector<int> ranks_in_no_line(const RankHosts& hosts, const Order& order);

}  // namespace resprout::runtime
