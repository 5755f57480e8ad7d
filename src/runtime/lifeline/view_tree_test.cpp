// The ranks of a host stand together in the tree of views, and the hosts of a group.
#include "runtime/lifeline/view_tree.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

constexpr int radixes[] = {2, 4, 8, 16};

struct Ranks {
  // hosts[r]: of rank r. Host h is node<h>, at 10.0.0.<h>.
  explicit Ranks(std::vector<int> of_rank) : hosts(std::move(of_rank)) {
    for (const int host : hosts) {
      PeerAddress& peer = peers.emplace_back();
      peer.host_id[0] = static_cast<std::uint8_t>(host % 256);
      peer.host_id[1] = static_cast<std::uint8_t>(host / 256);
      ("10.0.0." + std::to_string(host)).copy(peer.address.data(), peer.address.size() - 1);
      names.push_back("node" + std::to_string(host));
    }
  }

  ViewTree tree(int radix, const std::string& order = "") const {
    if (order.empty()) return make_view_tree({radix}, {peers, {}});
    return make_view_tree({radix}, {peers, names}, Order::parse(order, Order::Of::hosts));
  }

  std::vector<int> hosts;
  std::vector<PeerAddress> peers;
  std::vector<std::string> names;
};

// `each` ranks on each of `hosts`, host by host or by turns.
Ranks dealt(int hosts, int each, bool is_by_turns) {
  std::vector<int> of_rank;
  for (int rank = 0; rank < hosts * each; ++rank)
    of_rank.push_back(is_by_turns ? rank % hosts : rank / each);
  return Ranks(of_rank);
}

// Of the tree, those between ranks of different kinds.
int edges_between(const ViewTree& view, const std::vector<int>& kind) {
  const auto rank_at_place = [&](std::int32_t id) {
    return std::ranges::find(view.places, id) - view.places.begin();
  };
  const auto is_member = [&](std::int32_t id) {
    return rank_at_place(id) < std::ssize(view.places);
  };
  int edges = 0;
  for (std::size_t rank = 0; rank < kind.size(); ++rank) {
    const std::int32_t parent = view.tree.parent_among(view.places[rank], 0, is_member);
    if (parent >= 0 && kind[static_cast<std::size_t>(rank_at_place(parent))] != kind[rank]) ++edges;
  }
  return edges;
}

// Of hosts h in the rack h % racks, in the file's order.
std::string in_racks(const std::vector<int>& hosts, int racks) {
  std::string order;
  for (const int host : hosts)
    order += "node" + std::to_string(host) + " rack" + std::to_string(host % racks) + "\n";
  return order;
}

TEST_CASE("ranks of one host have the places of their numbers, whatever the radix") {
  for (const int radix : radixes) {
    const ViewTree view = dealt(1, 40, false).tree(radix);
    std::vector<std::int32_t> ascending(40);
    std::iota(ascending.begin(), ascending.end(), 0);
    CHECK(view.places == ascending);
    CHECK(view.tree.radix == radix);
  }
}

TEST_CASE("N hosts are joined by N - 1 edges, whatever the radix and however ranks are dealt") {
  for (const int radix : radixes)
    for (const bool is_by_turns : {false, true})
      for (const int hosts : {2, 3, 8, 30}) {
        CAPTURE(radix);
        CAPTURE(hosts);
        const Ranks ranks = dealt(hosts, 5, is_by_turns);
        CHECK(edges_between(ranks.tree(radix), ranks.hosts) == hosts - 1);
      }
}

TEST_CASE("hosts that an order puts into racks are joined by one edge less, and so are the racks") {
  for (const int radix : radixes)
    for (const bool is_by_turns : {false, true}) {
      CAPTURE(radix);
      const Ranks ranks = dealt(12, 5, is_by_turns);
      const ViewTree view = ranks.tree(radix, in_racks({11, 3, 5, 0, 1, 2, 4, 6, 10, 9, 8, 7}, 3));
      std::vector<int> racks;
      for (const int host : ranks.hosts) racks.push_back(host % 3);
      CHECK(edges_between(view, ranks.hosts) == 11);
      CHECK(edges_between(view, racks) == 2);
      // Without the order the racks are not together.
      CHECK(edges_between(ranks.tree(radix), racks) > 2);
    }
}

TEST_CASE("the first rank of the order's first host is the root, and hosts in no line come last") {
  const Ranks ranks({0, 0, 1, 1, 2, 2, 3, 3});
  for (const int radix : radixes) {
    const std::vector<std::int32_t> places = ranks.tree(radix, "10.0.0.2\nnode9\nnode1\n").places;
    CHECK(places[4] == 0);  // of host 2
    // The first rank of each host has the lowest place that is free: 0 and then what is below 0.
    CHECK(places[4] < places[2]);
    CHECK(places[2] < places[0]);
    CHECK(places[0] < places[6]);
  }
  CHECK(ranks_in_no_line({ranks.peers, ranks.names}, Order::parse("10.0.0.2\nnode9\nnode1\n")) ==
        std::vector<int>{0, 6});
  CHECK(ranks_in_no_line({ranks.peers, ranks.names}, Order::parse("node0\nnode1\nnode2\nnode3"))
            .empty());
}

TEST_CASE("an order without groups that lists the hosts as they come changes nothing") {
  const Ranks ranks = dealt(6, 4, true);
  for (const int radix : radixes)
    CHECK(ranks.tree(radix, "node0\nnode1\nnode2\nnode3\nnode4\nnode5\n").places ==
          ranks.tree(radix).places);
}

TEST_CASE("wherever ranks are and whatever the order, no two have one place, and one is the root") {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> hosts(1 + random.below(120));
    for (int& host : hosts) host = static_cast<int>(random.below(20));
    std::string order;
    for (int host = 0; host < 20; ++host)
      if (random.below(3) > 0)
        order += "node" + std::to_string(host) +
                 (random.below(2) == 0 ? "\n" : " g" + std::to_string(random.below(4)) + "\n");
    const ViewTree view =
        Ranks(hosts).tree(radixes[random.below(4)], order.empty() ? "node99" : order);
    CHECK(std::set<std::int32_t>(view.places.begin(), view.places.end()).size() == hosts.size());
    CHECK(*std::ranges::min_element(view.places) == 0);
  }
}

TEST_CASE("as many ranks as there are places have one each, and with one more nobody has any") {
  for (const int hosts : {1, 64, 4096}) {
    const ViewTree view = dealt(hosts, 4096 / hosts, true).tree(2);
    CHECK(std::set<std::int32_t>(view.places.begin(), view.places.end()).size() == 4096);
    CHECK(*std::ranges::max_element(view.places) == 4095);
  }
  CHECK(dealt(1, 4097, false).tree(2).places.empty());
}

}  // namespace
}  // namespace resprout::runtime
