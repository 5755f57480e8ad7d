// See places.hpp.
#include "runtime/member/places.hpp"

#include <algorithm>

namespace resprout::runtime::member {
namespace {

bool is_loopback(const Address& address) {
  return address.host.starts_with("127.") || address.host == "::1";
}

// The lowest one from `first` to `last` that is above the root and free.
std::optional<std::int32_t> lowest_free(const Book& book, std::int32_t root, std::int64_t first,
                                        std::int64_t last) {
  last = std::min<std::int64_t>(last, Ids::capacity - 1);
  for (std::int64_t id = std::max<std::int64_t>(first, root + 1); id <= last; ++id)
    if (!book.contains(static_cast<std::int32_t>(id))) return static_cast<std::int32_t>(id);
  return std::nullopt;
}

}  // namespace

bool is_same_host(const Address& one, const Address& other) {
  return one.host == other.host || (is_loopback(one) && is_loopback(other));
}

std::optional<std::int32_t> new_place(const Book& book, topology::RadixTree tree, std::int32_t root,
                                      const Address& joiner) {
  // Children of higher identifiers are higher: the first free one is the lowest.
  for (const auto& [id, place] : book) {
    if (!is_same_host(place.address, joiner)) continue;
    const std::int64_t first = std::int64_t{id} * tree.radix + 1;
    if (const auto free = lowest_free(book, root, first, first + tree.radix - 1)) return free;
  }
  return lowest_free(book, root, 0, Ids::capacity - 1);
}

}  // namespace resprout::runtime::member
