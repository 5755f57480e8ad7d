// What stands for payload bytes where protocols are checked: who is in it, and who was left out.
//
// Bit i of a mask is the rank at position i of the order in which contributions must be folded. A
// broadcast's payload is the one bit of its root.
// Thread rule: a value.
#pragma once

#include <bit>
#include <cstdint>

namespace resprout::sim {

struct Payload {
  std::uint64_t contributors = 0;
  std::uint64_t excluded = 0;

  bool is_present() const { return contributors != 0; }
  constexpr bool operator==(const Payload&) const = default;
};

// True if `upper` may be folded onto `lower`: nobody twice, and all of `lower` before all of
// `upper`.
constexpr bool are_in_order(const Payload& lower, const Payload& upper) {
  return static_cast<int>(std::bit_width(lower.contributors)) <=
         std::countr_zero(upper.contributors);
}

}  // namespace resprout::sim
