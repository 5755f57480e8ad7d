// Which processes die, and when: random ones or named ones.
//
// Corrected Trees, section 2.1: fail-stop. A process that dies at t does nothing from t on; what it
// started to send before still arrives.
// Thread rule: pure functions; one thread a FaultDraw.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/random.hpp"
#include "core/rank.hpp"
#include "core/time.hpp"

namespace resprout::sim {

struct Death {
  Rank rank;
  Time at;
};

// Draws processes that are dead from the beginning, each of the others equally likely, without
// repetition. Equal seeds draw equally: parse_faults draws this way. Costs O(procs) once, O(count)
// a draw.
class FaultDraw {
 public:
  // `root` is spared. REQUIRES: 0 <= root < procs.
  FaultDraw(std::int32_t procs, Rank root);

  // Valid until the next draw. REQUIRES: 0 <= count < procs.
  std::span<const Death> draw(std::int64_t count, std::uint64_t seed);

 private:
  static std::uint64_t below(Random& random, std::uint64_t bound, std::uint64_t inverse);

  // The i-th of all ranks but the root.
  std::int32_t in_order(std::int32_t i) const { return i < root_ ? i : i + 1; }

  std::int32_t root_;
  std::vector<std::int32_t> ranks_;      // ascending between draws
  std::vector<std::uint64_t> inverses_;  // of ranks_.size() - i, those that were needed
  // At least as many as were drawn:
  std::vector<std::int32_t> sources_;  // the places in ranks_ that the draws came from
  std::vector<Death> deaths_;
};

// Those who are dead from the beginning, as text says:
//   none | N | X% | N+M@T | 3,7,9 (a single rank: "3,")
// N of the processes, or X percent rounded to the nearest, are drawn without `root`; ranks are
// taken as named. N+M@T: M others die on the way, each at a random time before T.
class Faults {
 public:
  // The error is one line. REQUIRES: procs >= 1, 0 <= root < procs.
  static std::variant<Faults, std::string> parse(std::string_view text, std::int32_t procs,
                                                 Rank root);

  // Whether `rank` is one of those that were named, not drawn.
  bool names(Rank rank) const;

  bool are_none() const { return named_.empty() && count_ == 0; }

  // Those of a run with this seed; valid until the next call.
  std::span<const Death> of(std::uint64_t seed);

 private:
  Faults(std::int32_t procs, Rank root) : procs_(procs), root_(root) {}

  std::int32_t procs_;
  Rank root_;
  std::vector<Death> named_;
  std::int64_t count_ = 0;         // of those that are drawn
  std::int64_t dying_ = 0;         // of the last of them, which die on the way,
  std::int64_t before_ = 0;        // before this time
  std::vector<Death> timed_;       // those of the last run, if some die on the way
  std::optional<FaultDraw> draw_;  // made by the first draw
};

// Faults::parse(), and those of one seed.
std::variant<std::vector<Death>, std::string> parse_faults(std::string_view text,
                                                           std::int32_t procs, Rank root,
                                                           std::uint64_t seed);

// Those who die on the way, each as RANK@T.
std::variant<std::vector<Death>, std::string> parse_deaths(std::span<const std::string> texts,
                                                           std::int32_t procs);

}  // namespace resprout::sim
