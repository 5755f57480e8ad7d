// What must hold when a communicator was revoked, or was not. That only who is revoked says so, and
// tells nobody twice, the asynchronous world checks on the way.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "sim/checkers/outcome.hpp"

namespace resprout::sim {

// What a notice is carried by.
enum class Reach : std::uint8_t {
  graph,     // the links of the binomial graph alone; failures may cut it
  detector,  // also: in the end everybody suspects all who are dead
};

// Of an outcome, `delivered` is how often the process was revoked, and its result by whose word.
// `initiators`: bit i: the program of process i revokes.
//  1. Nobody is revoked twice, or by its own word without its program's.
//  2. Survivors whose programs revoke are revoked.
//  3. If a survivor is revoked, so are all survivors that it reaches: over survivors that are
//     linked in the binomial graph; with a detector all of them.
Verdict check_revocation(std::span<const Outcome> outcomes, std::uint64_t initiators, Reach reach);

}  // namespace resprout::sim
