// What must hold of an agreement as the program sees it: the flag, and whether somebody failed whom
// not all have acknowledged.
// Thread rule: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/checkers/outcome.hpp"

namespace resprout::sim {

// What a process gives.
struct Given {
  std::int32_t flag = 0;
  std::vector<std::int32_t> acknowledged;
};

// What a process gets.
struct Got {
  std::int32_t flag = 0;
  bool is_failure = false;
  constexpr bool operator==(const Got&) const = default;
};

// How the process at `self` reads a result.
using Reading = Got (*)(const Payload& result, std::span<const Given> given, std::size_t self);
// As programs do: from the bytes of protocols/agreement/opinion.hpp.
Got read_agreed(const Payload& result, std::span<const Given> given, std::size_t self);
// A defect: a failure is known that this process has acknowledged.
Got read_selfishly(const Payload& result, std::span<const Given> given, std::size_t self);

// Other contributors give another flag, and another set of failures that all have acknowledged.
std::vector<Given> various_opinions(int procs);

//  1. What an allreduce promises (check_allreduce).
//  2. Each process that returns gets the AND of the flags that the survivors' contributors gave. It
//     gets a failure if, and only if, a process that is left out there was not acknowledged by all
//     of them. This holds also for a process that dies afterwards, or is about to be fenced.
// 2 is asked for only if somebody survives: otherwise there may be two halves, each of which takes
// the other one for dead.
Verdict check_agreement(std::span<const Outcome> outcomes, std::span<const Given> given,
                        Reading read = read_agreed);

}  // namespace resprout::sim
