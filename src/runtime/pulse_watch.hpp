// Looks at the pulses of this host for those of whose death nothing is known yet.
//
// Thread rule: `watch` before all else, all else from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/losses.hpp"
#include "runtime/pulses/pulses.hpp"

namespace resprout::runtime {

class PulseWatch {
 public:
  // What one look has shown.
  struct Look {
    unsigned stopped = 0;   // so many pulses
    std::vector<int> dead;  // world ranks; mostly nobody, for others have posted them
  };

  // `tell(world rank)` hears of each death that is found here.
  void watch(Pulses pulses, std::function<void(int)> tell) {
    pulses_ = pulses;
    tell_ = std::move(tell);
  }

  // Since the last `take` a pulse has stopped. A few loads.
  bool misses_one() const { return pulses_.stopped() != known_.load(std::memory_order_relaxed); }
  // The dead that are not lost yet. They write nothing any more when it returns.
  Look look(const Losses& losses) const;
  // They were posted: others get the processor before them, and are told.
  void take(const Look& look);
  // Lets others get the processor before those whose end is known.
  void let_others_pass(const Losses& losses) const;

 private:
  Pulses pulses_;
  std::function<void(int)> tell_;
  std::atomic<unsigned> known_{0};  // so many have stopped
};

}  // namespace resprout::runtime
