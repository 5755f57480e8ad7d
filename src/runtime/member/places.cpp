// See places.hpp.
#include "runtime/member/places.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace resprout::runtime::member {
namespace {

bool is_loopback(const Address& address) {
  return address.host.starts_with("127.") || address.host == "::1";
}

}  // namespace

bool is_same_host(const Address& one, const Address& other) {
  return one.host == other.host || (is_loopback(one) && is_loopback(other));
}

std::optional<std::int32_t> new_place(const Book& book, topology::RadixTree tree, std::int32_t root,
                                      const Address& joiner, const Ids& reserved) {
  Ids taken = reserved;
  std::vector<std::int32_t> near;
  for (const auto& [id, place] : book) {
    taken.add(rank_at(id));
    if (is_same_host(place.address, joiner)) near.push_back(id);
  }
  return place_below(std::span<const std::int32_t>(near), tree, root + 1, taken);
}

std::vector<std::int32_t> places_of(const Order& order, topology::RadixTree tree) {
  std::vector<std::int32_t> places;
  Ids taken;
  std::map<std::string, std::vector<std::int32_t>> groups;
  for (const Order::Line& line : order.lines()) {
    const std::vector<std::int32_t> alone;
    const auto& near = line.group.empty() ? alone : groups[line.group];
    // There are no more members than places.
    const std::int32_t place = *place_below(std::span<const std::int32_t>(near), tree, 0, taken);
    taken.add(rank_at(place));
    places.push_back(place);
    if (line.group.empty()) continue;
    auto& group = groups[line.group];
    group.insert(std::ranges::upper_bound(group, place), place);
  }
  return places;
}

}  // namespace resprout::runtime::member
