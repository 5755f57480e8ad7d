// What a session's frames call an operation: its number in the session, and in the upper two bytes
// among whom it is, as the sender sees them (Members::view).
#pragma once

#include <cstdint>

namespace resprout::runtime {

inline constexpr int operation_number_bits = 48;

constexpr std::uint64_t label_of(std::uint64_t number, std::uint16_t view) {
  return number | std::uint64_t{view} << operation_number_bits;
}
constexpr std::uint64_t number_in(std::uint64_t label) {
  return label & ((std::uint64_t{1} << operation_number_bits) - 1);
}
constexpr std::uint16_t view_in(std::uint64_t label) {
  return static_cast<std::uint16_t>(label >> operation_number_bits);
}

}  // namespace resprout::runtime
