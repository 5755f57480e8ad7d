// Looks at the death marks of this host for those of whose death nothing is known yet.
//
// Thread rule: `watch` before all else, all else from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/death_marks/death_marks.hpp"
#include "runtime/losses.hpp"

namespace resprout::runtime {

class DeathMarkWatch {
 public:
  // What one look has shown.
  struct Look {
    unsigned marked = 0;    // so many death marks
    std::vector<int> dead;  // world ranks; mostly nobody, for others have posted them
  };

  // `tell(world rank)` hears of each death that is found here.
  void watch(DeathMarks death_marks, std::function<void(int)> tell) {
    death_marks_ = death_marks;
    tell_ = std::move(tell);
  }

  // Since the last `take` a death mark has stopped. A few loads.
  bool misses_one() const {
    return death_marks_.marked() != known_.load(std::memory_order_relaxed);
  }
  // The dead that are not lost yet. They write nothing any more when it returns.
  Look look(const Losses& losses) const;
  // They were posted: others get the processor before them, and are told.
  void take(const Look& look);
  // Lets others get the processor before those whose end is known.
  void let_others_pass(const Losses& losses) const;

 private:
  DeathMarks death_marks_;
  std::function<void(int)> tell_;
  std::atomic<unsigned> known_{0};  // so many marks
};

}  // namespace resprout::runtime
