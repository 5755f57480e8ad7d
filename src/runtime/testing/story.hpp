// Random programs of collectives, and who dies when in them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "runtime/testing/turns_job.hpp"

namespace resprout::runtime::testing {

enum class Kind : std::uint8_t {
  allreduce,
  slices,
  agree,
  barrier,
  reduce,
  gather,
  allgather,
  broadcast,
  native_allreduce,  // from here on: of a library below, until a loss
  native_broadcast,
};
inline constexpr std::array<const char*, 10> kind_names{
    "allreduce", "slices",    "agree",     "barrier",          "reduce",
    "gather",    "allgather", "broadcast", "native allreduce", "native broadcast"};

struct Step {
  Kind kind;
  int root;
  bool is_star;
  bool is_started;  // and not waited for before a step that is not

  std::string name() const {
    return (is_started ? "started " : "") + std::string(kind_names[static_cast<std::size_t>(kind)]);
  }

  bool has_result_at_root_only() const { return kind == Kind::reduce || kind == Kind::gather; }
  bool is_broadcast() const { return kind == Kind::broadcast || kind == Kind::native_broadcast; }
  bool is_native() const {
    return kind == Kind::native_allreduce || kind == Kind::native_broadcast;
  }
  bool can_be_started() const { return !is_native() && kind != Kind::slices; }
};

struct Story {
  int ranks;
  bool shares_memory;
  std::vector<Step> program;
  std::vector<Step> otherwise;  // the same steps where the broadcast before them has failed
  std::vector<Fate> fates;

  explicit Story(std::uint64_t seed) {
    Random random(seed ^ 0x5e5510);
    ranks = 2 + static_cast<int>(random.below(6));
    shares_memory = random.below(2) == 0;
    const bool has_native = random.below(2) == 0;
    const std::uint64_t steps = 1 + random.below(8);
    const bool has_started = random.below(2) == 0;
    for (std::uint64_t i = 0; i < steps; ++i)
      for (std::vector<Step>* path : {&program, &otherwise})
        path->push_back(step(random, has_native, has_started));
    const std::uint64_t deaths = 1 + random.below(std::min(ranks - 1, 3));
    std::set<int> victims;
    while (victims.size() < deaths) victims.insert(static_cast<int>(random.below(ranks)));
    fates.resize(static_cast<std::size_t>(ranks));
    for (const int victim : victims) fates[static_cast<std::size_t>(victim)] = fate(random, steps);
  }

 private:
  Step step(Random& random, bool may_be_native, bool may_be_started) const {
    constexpr auto of_messages = static_cast<std::size_t>(Kind::native_allreduce);
    Step step{static_cast<Kind>(random.below(may_be_native ? kind_names.size() : of_messages)),
              static_cast<int>(random.below(ranks)), random.below(2) == 0, false};
    step.is_started = may_be_started && step.can_be_started() && random.below(2) == 0;
    return step;
  }

  Fate fate(Random& random, std::uint64_t steps) const {
    Fate fate;
    fate.sends = static_cast<int>(random.below(3 * steps));
    if (random.below(2) == 0) fate.dies_after = random.below(60);
    const std::uint64_t spread = 1 + random.below(80);
    for (int rank = 0; rank < ranks; ++rank)
      fate.known_after.push_back(random.below(spread) +
                                 (random.below(2) == 0 ? fate.dies_after : 0));
    return fate;
  }
};

}  // namespace resprout::runtime::testing
