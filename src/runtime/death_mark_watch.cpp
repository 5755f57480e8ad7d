#include "runtime/death_mark_watch.hpp"

namespace resprout::runtime {

DeathMarkWatch::Look DeathMarkWatch::look(const Losses& losses) const {
  Look look;
  for (std::size_t place = 0; place < death_marks_.places(); ++place) {
    if (!death_marks_.is_marked(place)) continue;
    look.marked.push_back(place);
    const int rank = death_marks_.world_rank(place);
    if (!losses.is_lost(rank) && death_marks_.has_died(rank)) look.dead.push_back(rank);
  }
  if (!look.dead.empty()) DeathMarks::settle();
  return look;
}

void DeathMarkWatch::take(const Look& look) {
  for (const int rank : look.dead) death_marks_.let_others_pass(rank);
  for (const int rank : look.dead) tell_(rank);  // whose thread may want the processor at once
  for (const std::size_t place : look.marked)
    are_known_[place].store(true, std::memory_order_relaxed);
}

void DeathMarkWatch::let_others_pass(const Losses& losses) const {
  death_marks_.for_each_marked([&](int rank) {
    if (losses.has_ended(rank)) death_marks_.let_others_pass(rank);
  });
}

}  // namespace resprout::runtime
