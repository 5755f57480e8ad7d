// Looks for inputs that break a parser: random changes of a corpus, where whatever reaches code
// that nothing before has reached is changed further.
//
// A target is one file with `LLVMFuzzerTestOneInput`, so that it also runs under libFuzzer. It is
// compiled, with the sources that it is for, to report each edge of its control flow and each
// comparison; this driver is not. What must not happen ends the process: a sanitizer, a trap.
//
// Invariants
//  1. An input is changed and run only by its bytes and the seed: no clock, no address decides.
//  2. The input that runs is in a file by then, whatever ends the process.
//
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"

namespace resprout::fuzz {

using Input = std::vector<std::uint8_t>;

// What the code under test has reached since `forget`, and the numbers that it has compared with.
class Coverage {
 public:
  static void forget();
  // How many of the edges, by the magnitude of how often, were never reached before.
  static std::size_t count_new();
  static std::size_t edges();
  static std::span<const std::uint64_t> compared();
};

// A changed copy of `input`; sometimes with a part of `other`. At most `size_max` bytes.
Input mutate(const Input& input, const Input& other, std::size_t size_max, Random& random);

}  // namespace resprout::fuzz
