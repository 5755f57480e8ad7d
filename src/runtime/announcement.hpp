// What the root of a large broadcast says before it sends anything
// (docs/explanation/protocols/slices.md).
//
// Of a program that is wrong another member may wait for a small one: by the mark it knows that
// this is not its payload. Travels as it stands in memory. Thread rule: values.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/offered_memory.hpp"

namespace resprout::runtime {

inline constexpr std::uint64_t announcement_mark = 0xb7d1f0a53c6e9482;

struct Announcement {
  std::uint64_t mark = announcement_mark;
  std::uint64_t bytes = 0;
  MemoryOffer offer;  // its stamp is 0: none, the payload comes in slices
};

// `wanted`: so many bytes are waited for.
inline bool is_announcement(std::span<const std::byte> payload, std::size_t wanted) {
  if (payload.size() != sizeof(Announcement) || wanted == sizeof(Announcement)) return false;
  return std::memcmp(payload.data(), &announcement_mark, sizeof announcement_mark) == 0;
}

}  // namespace resprout::runtime
