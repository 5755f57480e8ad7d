// The tree follows the order that a file gives, and what is no order is refused with its line.
#include "runtime/member/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime::member {
namespace {

using topology::RadixTree;

std::string refusal(const std::string& text) {
  try {
    Order::parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
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
    CHECK(Order::parse(racks(10, 10, false)).places({radix}) == ascending);
}

TEST_CASE("comments and empty lines count for nothing") {
  const Order order = Order::parse("# all\n\n 10.0.0.9 # the root\r\n\f\t\n10.0.0.8:4000\n");
  CHECK(order.places({2}) == std::vector<std::int32_t>{0, 1});
  CHECK(order.find({"10.0.0.9", 5}, "") == 0);
  CHECK(order.find({"10.0.0.8", 4000}, "") == 1);
}

TEST_CASE("groups that stand one after the other are joined by one edge less than they are") {
  std::vector<int> rack;
  for (int i = 0; i < 128; ++i) rack.push_back(i / 16);
  for (const int radix : {2, 4, 16}) {
    CHECK(edges_between({radix}, Order::parse(racks(8, 16, true)).places({radix}), rack) == 7);
    // As a list only the first rack is together.
    CHECK(edges_between({radix}, Order::parse(racks(8, 16, false)).places({radix}), rack) > 100);
  }
}

TEST_CASE("groups by turns stand together, too") {
  std::vector<int> rack;
  for (int i = 0; i < 128; ++i) rack.push_back(i % 8);
  for (const int radix : {2, 4, 16}) {
    const Order order = Order::parse(racks(8, 16, true, true));
    CHECK(edges_between({radix}, order.places({radix}), rack) <= 14);
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
      std::vector<std::int32_t> places = Order::parse(text).places({4});
      CHECK(std::set<std::int32_t>(places.begin(), places.end()).size() == places.size());
      places.pop_back();
      CHECK(places == before);
      before = Order::parse(text).places({4});
    }
  }
}

TEST_CASE("a member is found by its address, with the port first, or by its host's name") {
  const Order order =
      Order::parse("10.0.0.1\nNode7:4000\n10.0.0.1:4000\nnode7\nnode8.rack2\n::1\n[::2]:9\n");
  CHECK(order.find({"10.0.0.1", 5}, "x") == 0);
  CHECK(order.find({"10.0.0.1", 4000}, "x") == 2);
  CHECK(order.find({"10.0.0.2", 4000}, "node7") == 1);
  CHECK(order.find({"10.0.0.2", 5}, "NODE7") == 3);
  CHECK(order.find({"10.0.0.2", 5}, "node7.cluster") == 3);
  CHECK(order.find({"10.0.0.2", 5}, "node8") == 4);
  CHECK(order.find({"0:0::1", 5}, "x") == 5);
  CHECK(order.find({"::2", 9}, "x") == 6);
  CHECK_FALSE(order.find({"::2", 8}, "x"));
  CHECK_FALSE(order.find({"10.0.0.2", 5}, "node70"));
  CHECK_FALSE(order.find({"10.0.0.2", 5}, "node8.rack3"));
  CHECK_FALSE(order.find({"10.0.0.2", 5}, ""));
}

TEST_CASE("what is no order is refused with the line and what is wrong in it") {
  const std::string valid = " is not HOST or HOST:PORT, as node7 or 10.1.0.7:4000";
  for (const char* wrong : {"a:b", "a:0", "a:65536", "a:", ":5", "10.0.0.300", "1.2", "a:1:2",
                            "[::1", "[::1]5", "[]", "n\xc3\xb6", "a/b", "-:", "."})
    CHECK(refusal("ok\n" + std::string(wrong)) == "2: '" + std::string(wrong) + "'" + valid);
  CHECK(refusal("a rack 1") ==
        "1: '1' is too much: a line is HOST or HOST:PORT, and perhaps a GROUP");
  CHECK(refusal("a\n#\nb\nA rack") == "4: 'a' stands in line 1 already");
  CHECK(refusal("::1\n[0::1]") == "2: '::1' stands in line 1 already");
  CHECK(refusal("a:1\na:2\na\na:2") == "4: 'a:2' stands in line 2 already");
  CHECK(refusal("") == "it names nobody");
  CHECK(refusal("# nobody\n") == "it names nobody");
}

TEST_CASE("any bytes are an order or are refused, and nothing else") {
  Random random(9);
  constexpr std::array bytes = {'a',  'b',  '1',  '.',  ':',  '[',    ']', '#', ' ',
                                '\t', '\r', '\n', '\f', '\0', '\xff', '-', '_'};
  for (int i = 0; i < 20000; ++i) {
    std::string text(random.below(40), ' ');
    for (char& byte : text) byte = bytes[random.below(bytes.size())];
    if (!refusal(text).empty()) continue;
    const Order order = Order::parse(text);
    CHECK(order.places({2}).size() == order.places({4}).size());
    CHECK(order.find({"a", 1}, "b").value_or(0) < order.places({2}).size());
  }
}

TEST_CASE("as many members as there are places, and not one more") {
  const std::string all = racks(16, 256, true);
  const std::vector<std::int32_t> places = Order::parse(all).places({2});
  CHECK(std::set<std::int32_t>(places.begin(), places.end()).size() == Ids::capacity);
  CHECK(refusal(all + "one-more") == "4097: there are more than 4096 members");
}

}  // namespace
}  // namespace resprout::runtime::member
