// See places.hpp.
#include "runtime/member/places.hpp"

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

}  // namespace resprout::runtime::member
