#include "runtime/death_mark_watch.hpp"

namespace resprout::runtime {

DeathMarkWatch::Look DeathMarkWatch::look(const Losses& losses) const {
  Look look;
  death_marks_.for_each_marked([&](int rank) {
    ++look.marked;
    if (!losses.is_lost(rank) && death_marks_.has_died(rank)) look.dead.push_back(rank);
  });
  if (!look.dead.empty()) DeathMarks::settle();
  return look;
}

void DeathMarkWatch::take(const Look& look) {
  for (const int rank : look.dead) death_marks_.let_others_pass(rank);
  for (const int rank : look.dead) tell_(rank);  // whose thread may want the processor at once
  known_.store(look.marked, std::memory_order_relaxed);
}

void DeathMarkWatch::let_others_pass(const Losses& losses) const {
  death_marks_.for_each_marked([&](int rank) {
    if (losses.has_ended(rank)) death_marks_.let_others_pass(rank);
  });
}

}  // namespace resprout::runtime
