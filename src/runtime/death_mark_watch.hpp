// Looks at the death marks of this host for those of whose death nothing is known yet. A look costs
// the same however many processes there are: of many it takes some, and the next one others.
//
// Thread rule: `watch` before all else, all else from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
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
    std::vector<std::size_t> marked;  // places of death marks
    std::vector<int> dead;            // world ranks; mostly nobody, for others have posted them
  };

  // `tell(world rank)` hears of each death that is found here.
  void watch(DeathMarks death_marks, std::function<void(int)> tell) {
    death_marks_ = death_marks;
    tell_ = std::move(tell);
    are_known_ = std::vector<std::atomic<bool>>(death_marks.places());
  }

  // So many marks one look takes.
  static constexpr std::size_t marks_each = 32;
  // There is a death mark that no `take` has had. A few loads. Of many successive looks one finds
  // it: of as many as take all marks.
  bool misses_one() const {
    const std::size_t places = death_marks_.places();
    std::size_t place = places <= marks_each ? 0 : next_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < std::min(places, marks_each); ++i) {
      if (is_missed(place)) return true;
      place = place + 1 == places ? 0 : place + 1;
    }
    if (places > marks_each) next_.store(place, std::memory_order_relaxed);
    return false;
  }
  // The dead that are not lost yet. They write nothing any more when it returns.
  Look look(const Losses& losses) const;
  // They were posted: others get the processor before them, and are told.
  void take(const Look& look);
  // Lets others get the processor before those whose end is known.
  void let_others_pass(const Losses& losses) const;

 private:
  bool is_missed(std::size_t place) const {
    return death_marks_.is_marked(place) && !are_known_[place].load(std::memory_order_relaxed);
  }

  DeathMarks death_marks_;
  std::function<void(int)> tell_;
  std::vector<std::atomic<bool>> are_known_;  // by place
  mutable std::atomic<std::size_t> next_{0};  // where the next look begins
};

}  // namespace resprout::runtime
