// See places.hpp.
#include "runtime/member/places.hpp"

#include <algorithm>

namespace resprout::runtime::member {
namespace {

bool is_loopback(const Address& address) {
  return address.host.starts_with("127.") || address.host == "::1";
}

// The lowest one from `first` to `last` that is not taken.
std::optional<std::int32_t> lowest_free(const Ids& taken, std::int64_t first, std::int64_t last) {
  last = std::min<std::int64_t>(last, Ids::capacity - 1);
  for (std::int64_t id = first; id <= last; ++id)
    if (!taken.contains(rank_at(static_cast<std::int32_t>(id))))
      return static_cast<std::int32_t>(id);
  return std::nullopt;
}

}  // namespace

bool is_same_host(const Address& one, const Address& other) {
  return one.host == other.host || (is_loopback(one) && is_loopback(other));
}

std::optional<std::int32_t> place_below(std::span<const std::int32_t> near,
                                        topology::RadixTree tree, std::int32_t first,
                                        const Ids& taken) {
  // Children of higher identifiers are higher: the first free one is the lowest.
  for (const std::int32_t id : near) {
    const std::int64_t child = std::int64_t{id} * tree.radix + 1;
    const std::int64_t last = child + tree.radix - 1;
    if (const auto free = lowest_free(taken, std::max<std::int64_t>(first, child), last))
      return free;
  }
  return lowest_free(taken, first, Ids::capacity - 1);
}

std::optional<std::int32_t> new_place(const Book& book, topology::RadixTree tree, std::int32_t root,
                                      const Address& joiner, const Ids& reserved) {
  Ids taken = reserved;
  std::vector<std::int32_t> near;
  for (const auto& [id, place] : book) {
    taken.add(rank_at(id));
    if (is_same_host(place.address, joiner)) near.push_back(id);
  }
  return place_below(near, tree, root + 1, taken);
}

}  // namespace resprout::runtime::member
