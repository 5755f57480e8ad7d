// What the decisions of one rank's replicas have come to when nothing more happens, and whether
// that is what they promise.
// Thread rule: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace resprout::sim {

// More than any world lets a program make.
inline constexpr std::size_t decisions_bound = 16;

struct DecisionLogOutcome {
  bool is_survivor = false;  // lives, and was never suspected by anybody
  bool failed = false;       // never happens: decisions cannot be impossible
  bool has_ended = false;    // its program has
  std::uint64_t length = 0;  // of its log
  std::uint64_t shown = 0;   // so many decisions has it settled, so that others could see them
  std::uint64_t held_max = 0;
  std::array<std::uint8_t, decisions_bound> log{};  // who has decided it, by number
};

// Of every survivor:
//  1. its program ends;
//  2. its log is that of every other survivor;
//  3. what anybody has shown, whether it survives or not, is in its log;
//  4. it never holds more than `window` decisions.
std::optional<std::string> check_decision_log(std::span<const DecisionLogOutcome> outcomes,
                                              std::uint64_t window);

}  // namespace resprout::sim
