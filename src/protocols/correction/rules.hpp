// What a correction on the ring is told, and what it can be asked: the contract of the files beside
// this one.
//
// Corrected Trees, sections 3.1 and 3.3. A correction is the part of one process. It decides whom a
// process sends to, from what the process has heard; it knows neither trees nor payloads. What each
// one promises: docs/explanation/protocols/corrected_tree.md.
//
// "Left" is towards lower ranks. What goes left comes from the right: on a small ring the same
// sender is found on both sides, so a correction says which way it goes.
// Thread rule: values.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/time.hpp"

namespace resprout::protocols {

enum class Correction : std::uint8_t {
  none,
  opportunistic,            // `distance` to each side
  optimized_opportunistic,  // less where a neighbor covers it
  checked,                  // until somebody is heard of from each side
  failure_proof,            // until several are heard of from each side
  delayed,                  // one to the left; to the right only if nobody is heard from there
};

// Where the opportunistic corrections send to.
enum class Sides : std::uint8_t { both, right };

// Whose messages the optimized opportunistic correction draws conclusions from.
enum class Heed : std::uint8_t { both, right };

struct CorrectionRules {
  Correction kind = Correction::checked;
  std::int32_t distance = 4;  // opportunistic, to each side; >= 1
  Sides sides = Sides::both;
  Heed heed = Heed::both;
  std::int32_t failures = 3;  // failure-proof: of correcting processes, during the correction; >= 1
  Duration delay = 0;         // delayed: before a process sends to the right

  bool operator==(const CorrectionRules&) const = default;
};

// How many may die while they correct, messages of theirs lost, and still every live process is
// colored if the root lives. -1: whether it is depends on the gaps, also if nobody dies.
constexpr std::int32_t tolerated_failures(const CorrectionRules& rules) {
  switch (rules.kind) {
    case Correction::none:
    case Correction::opportunistic:
    case Correction::optimized_opportunistic:
      break;
    case Correction::checked:
      return 1;
    case Correction::failure_proof:
      return rules.failures;
    case Correction::delayed:
      return 0;
  }
  return -1;
}

enum class Direction : std::uint16_t { left, right };

// What a correction may look at while it is asked something.
struct RingView {
  const CorrectionRules& rules;
  std::int32_t procs;
  Time now;
};

// How far the messages of a process went, or count as having gone, to each side.
struct Reach {
  std::int32_t left = 0;
  std::int32_t right = 0;

  constexpr bool covers(std::int32_t procs) const { return left + right >= procs - 1; }

  // One place further; returns the offset on the ring.
  constexpr std::int32_t extend(Direction direction) {
    return direction == Direction::left ? -++left : ++right;
  }
};

// The farthest place there is: nobody was heard.
inline constexpr std::int32_t nobody = INT32_MAX;

template <typename C>
concept RingCorrection =
    std::is_trivially_copyable_v<C> && std::constructible_from<C, const CorrectionRules&> &&
    requires(C correction, const C constant, const RingView& view, Direction going,
             std::int32_t distance) {
      // The process takes part from now on.
      { correction.join(view) } -> std::same_as<void>;
      // A correction came that goes `going`, sent `distance` places away. Also said to a process
      // that takes no part yet.
      { correction.hear(view, going, distance) } -> std::same_as<void>;
      // Asked of who takes part, when its port is free: the offset of whom it sends to, 0 for
      // nobody. What is returned counts as sent.
      { correction.next(view) } -> std::same_as<std::int32_t>;
      // The deadline has come, or not.
      { correction.handle_timeout(view) } -> std::same_as<void>;
      { constant.deadline(view) } -> std::same_as<Deadline>;
    };

}  // namespace resprout::protocols
