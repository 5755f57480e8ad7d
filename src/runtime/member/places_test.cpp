// Members of one host stand together in the tree, whoever joins when, and those of one group of an
// order.
#include "runtime/member/places.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime::member {
namespace {

using topology::RadixTree;

Address on_host(int host, int port) {
  return {"10.0.0." + std::to_string(host + 1), static_cast<std::uint16_t>(port)};
}

// They join one after the other, each from the next of `hosts`.
Book joined(RadixTree tree, const std::vector<int>& hosts) {
  Book book;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const Address address = on_host(hosts[i], static_cast<int>(i));
    const auto place = book.empty() ? 0 : new_place(book, tree, 0, address);
    REQUIRE(place);
    REQUIRE(book.try_emplace(*place, Place{address, 1}).second);
  }
  return book;
}

// Of the tree among those in the book, those between hosts.
int edges_between_hosts(RadixTree tree, const Book& book) {
  const auto is_member = [&](std::int32_t id) { return book.contains(id); };
  return static_cast<int>(std::ranges::count_if(book, [&](const auto& entry) {
    const std::int32_t parent = tree.parent_among(entry.first, 0, is_member);
    return parent >= 0 && !is_same_host(book.at(parent).address, entry.second.address);
  }));
}

TEST_CASE("on one host the places are taken in the order of joining") {
  const Book book = joined({4}, std::vector<int>(100, 0));
  CHECK(book.size() == 100);
  CHECK(book.rbegin()->first == 99);
}

TEST_CASE("in turns from two hosts: each has a subtree") {
  const Book book = joined({2}, {0, 1, 0, 1, 0, 1});
  std::vector<std::int32_t> second;
  for (const auto& [id, place] : book)
    if (place.address.host == "10.0.0.2") second.push_back(id);
  CHECK(second == std::vector<std::int32_t>{1, 3, 4});
  CHECK(edges_between_hosts({2}, book) == 1);
}

TEST_CASE("N hosts that come one after the other are joined by N - 1 edges") {
  std::vector<int> hosts;
  for (int i = 0; i < 128; ++i) hosts.push_back(i / 16);
  for (const int radix : {2, 4, 16})
    CHECK(edges_between_hosts({radix}, joined({radix}, hosts)) == 7);
}

TEST_CASE("in whatever order members come, few edges are between hosts") {
  Random random(5);
  for (const int radix : {2, 4, 16})
    for (int round = 0; round < 50; ++round) {
      std::vector<int> hosts;
      for (int i = 0; i < 64; ++i) hosts.push_back(static_cast<int>(random.below(8)));
      const int count = static_cast<int>(std::set<int>(hosts.begin(), hosts.end()).size());
      const int edges = edges_between_hosts({radix}, joined({radix}, hosts));
      CHECK(edges >= count - 1);
      // By the order of joining about 56 of the 63 were.
      CHECK(edges <= 2 * (count - 1));
    }
}

TEST_CASE("nobody gets a place below the root, or that of a former member") {
  Book book;
  for (const int id : {0, 1, 2, 5, 11}) book[id] = {on_host(id < 2 ? 0 : 1, id), 1};
  // Of host 0 only 3 and 4 are free below 0 and 1.
  CHECK(new_place(book, {2}, 0, on_host(0, 9)) == 3);
  CHECK(new_place(book, {2}, 5, on_host(0, 9)) == 6);
  CHECK(new_place(book, {2}, 0, on_host(1, 9)) == 6);
  CHECK(new_place(book, {2}, 0, on_host(7, 9)) == 3);
}

TEST_CASE("nobody gets a place that an order gives to others, while there is another one") {
  Ids reserved = Ids::first(8);
  CHECK(new_place({}, {2}, -1, on_host(0, 1), reserved) == 8);
  Book book;
  book[8] = {on_host(0, 1), 1};
  reserved.add(rank_at(17));
  CHECK(new_place(book, {2}, 8, on_host(0, 2), reserved) == 18);
  CHECK(new_place(book, {2}, 8, on_host(1, 2), reserved) == 9);
  CHECK_FALSE(new_place(book, {2}, 8, on_host(1, 2), Ids::first(Ids::capacity)));
}

TEST_CASE("where a host's subtree is full its members go elsewhere, until all places are taken") {
  Book book;
  for (std::int32_t id = 0; id < Ids::capacity; ++id) {
    const auto place = id == 0 ? 0 : new_place(book, {2}, 0, on_host(id % 2, id));
    REQUIRE(place);
    REQUIRE(Ids::is_id(rank_at(*place)));
    REQUIRE(book.try_emplace(*place, Place{on_host(id % 2, id), 1}).second);
  }
  CHECK_FALSE(new_place(book, {2}, 0, on_host(0, 1)));
}

TEST_CASE("all addresses of the loopback are one host, others only themselves") {
  CHECK(is_same_host({"127.0.0.1", 1}, {"127.0.0.2", 2}));
  CHECK(is_same_host({"127.0.0.1", 1}, {"::1", 2}));
  CHECK(is_same_host({"10.0.0.1", 1}, {"10.0.0.1", 2}));
  CHECK_FALSE(is_same_host({"10.0.0.1", 1}, {"10.0.0.2", 1}));
  CHECK_FALSE(is_same_host({"10.0.0.1", 1}, {"127.0.0.1", 1}));
}

// `hosts` of each of `racks`, rack by rack, or by turns.
std::string racks(int racks, int hosts, bool has_groups, bool is_by_turns = false) {
  std::string text;
  for (int i = 0; i < racks * hosts; ++i) {
    const int rack = is_by_turns ? i % racks : i / hosts;
    text += "10." + std::to_string(rack) + "." + std::to_string(i / 256) + "." +
            std::to_string(i % 256);
    text += has_groups ? " rack" + std::to_string(rack) + "\n" : "\n";
  }
  return text;
}

// Of the tree over these places, those between members of different racks.
int edges_between(RadixTree tree, const std::vector<std::int32_t>& places,
                  const std::vector<int>& rack) {
  const auto at = [&](std::int32_t id) { return std::ranges::find(places, id) - places.begin(); };
  const auto is_member = [&](std::int32_t id) { return at(id) < std::ssize(places); };
  int edges = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int32_t parent = tree.parent_among(places[i], 0, is_member);
    if (parent >= 0 && rack[static_cast<std::size_t>(at(parent))] != rack[i]) ++edges;
  }
  return edges;
}

TEST_CASE("without groups the n-th member has identifier n, whatever the radix") {
  std::vector<std::int32_t> ascending(100);
  std::iota(ascending.begin(), ascending.end(), 0);
  for (const int radix : {2, 4, 1024})
    CHECK(places_of(Order::parse(racks(10, 10, false)), {radix}) == ascending);
}

TEST_CASE("groups that stand one after the other are joined by one edge less than they are") {
  std::vector<int> rack;
  for (int i = 0; i < 128; ++i) rack.push_back(i / 16);
  for (const int radix : {2, 4, 16}) {
    CHECK(edges_between({radix}, places_of(Order::parse(racks(8, 16, true)), {radix}), rack) == 7);
    // As a list only the first rack is together.
    CHECK(edges_between({radix}, places_of(Order::parse(racks(8, 16, false)), {radix}), rack) >
          100);
  }
}

TEST_CASE("groups by turns stand together, too") {
  std::vector<int> rack;
  for (int i = 0; i < 128; ++i) rack.push_back(i % 8);
  for (const int radix : {2, 4, 16}) {
    const Order order = Order::parse(racks(8, 16, true, true));
    CHECK(edges_between({radix}, places_of(order, {radix}), rack) <= 14);
  }
}

TEST_CASE("in whatever groups they are, no two have one place, and lines at the end move nobody") {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    std::string text;
    std::vector<std::int32_t> before;
    for (int i = 0; i < 60; ++i) {
      text += "node" + std::to_string(i);
      if (const auto group = random.below(6); group > 0) text += " g" + std::to_string(group);
      text += '\n';
      std::vector<std::int32_t> places = places_of(Order::parse(text), {4});
      CHECK(std::set<std::int32_t>(places.begin(), places.end()).size() == places.size());
      places.pop_back();
      CHECK(places == before);
      before = places_of(Order::parse(text), {4});
    }
  }
}

TEST_CASE("as many members as there are places, whatever the groups") {
  const std::vector<std::int32_t> places = places_of(Order::parse(racks(16, 256, true)), {2});
  CHECK(std::set<std::int32_t>(places.begin(), places.end()).size() == Ids::capacity);
}

}  // namespace
}  // namespace resprout::runtime::member
