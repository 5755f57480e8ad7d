#include "runtime/progress.hpp"

namespace resprout::runtime {

Progress::Progress(int self, int world_size, Transport& transport, IdleStrategy idle)
    : self_(self),
      transport_(transport),
      idle_(transport.pollable_fd() < 0 ? idle : idle.between_hosts()),
      notices_(transport.bell(), transport.board()),
      losses_(world_size) {}

void Progress::report_failure(int rank) {
  if (losses_.note(rank)) note_news();
}

void Progress::note_death(int rank) {
  if (losses_.note_death(rank)) note_news();
}

void Progress::report_death(int rank) {
  if (losses_.is_lost(rank)) return;
  const bool is_posted = notices_.post_death(rank);
  note_death(rank);
  if (is_posted) notices_.bell().ring();
}

void Progress::report_marked_deaths() {
  const DeathMarkWatch::Look look = death_marks_.look(losses_);
  for (const int rank : look.dead) report_death(rank);
  death_marks_.take(look);
}

bool Progress::cut_off() {
  if (!transport_.withdraw()) return false;
  is_cut_off_.store(true, std::memory_order_release);
  note_news();
  return true;
}

void Progress::give_way(Lock& lock) {
  if (idle_.is_crowded()) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  read_notices(lock);
}

}  // namespace resprout::runtime
