// What comes over a connection comes in pieces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

namespace resprout::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

// Gives `bytes` to `read_some` in pieces of that size, each behind what it has not used of those
// before. `read_some` says how many it has used, or nothing: they make no sense. False: so it said.
template <typename ReadSome>
bool read_in_pieces(std::span<const std::uint8_t> bytes, std::size_t piece, ReadSome read_some) {
  std::vector<std::uint8_t> unused;
  while (!bytes.empty()) {
    const auto some = bytes.first(std::min(piece, bytes.size()));
    bytes = bytes.subspan(some.size());
    unused.insert(unused.end(), some.begin(), some.end());
    const std::optional<std::size_t> used = read_some(std::span<const std::uint8_t>(unused));
    if (!used) return false;
    require(*used <= unused.size());
    unused.erase(unused.begin(), unused.begin() + static_cast<std::ptrdiff_t>(*used));
  }
  return true;
}

}  // namespace resprout::fuzz
