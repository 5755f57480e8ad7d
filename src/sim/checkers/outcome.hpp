// What must hold when an operation is over: one function for each promise, from what was observed.
//
// A *survivor* was never suspected by anybody. A process that is suspected although it still runs
// is about to be fenced: what it returns binds nobody. Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/checkers/payload.hpp"

namespace resprout::sim {

// What one process made of the operation.
struct Outcome {
  bool is_survivor = true;
  std::uint8_t delivered = 0;  // how often
  std::uint8_t failed = 0;     // how often
  Payload result;              // of the last delivery
  bool is_late = false;        // its contribution is owed, as it knows
};

// Each finds the first promise that is broken and says by whom, or nothing. The index of an outcome
// is the position of its process in the order of folding.
using Verdict = std::optional<std::string>;

// FTCO, definitions 3.1 and 3.2, without its immune root: every survivor delivers once, the same
// result, whose contributors and excluded ranks are everybody. Of the survivors those are
// contributors who are not late: what a survivor gives is in the result or owed, and never both.
Verdict check_allreduce(std::span<const Outcome> outcomes);

// Reduce to position 0: every survivor returns once; the root, if it survives, with such a result.
Verdict check_reduce(std::span<const Outcome> outcomes);

// Every survivor delivers once: the contributions of all survivors up to itself, and of the dead
// among them the same ones as the survivors above it.
Verdict check_scan(std::span<const Outcome> outcomes);

// A reduce to position 0 that nobody waits for: every survivor returns once, and the result of the
// root, if it survives, has its own contribution.
Verdict check_timed_reduce(std::span<const Outcome> outcomes);

// Every survivor ends once, all in the same way; if the root survives, by delivering.
Verdict check_reliable_broadcast(std::span<const Outcome> outcomes, std::size_t root);

// What a broadcast without a detector promises in any case: nobody delivers twice or fails, and
// only the root's payload. With `everybody`, also: every survivor delivers.
Verdict check_broadcast(std::span<const Outcome> outcomes, std::size_t root, bool everybody);

}  // namespace resprout::sim
