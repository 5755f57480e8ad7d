#include "runtime/pulse_watch.hpp"

namespace resprout::runtime {

PulseWatch::Look PulseWatch::look(const Losses& losses) const {
  Look look;
  pulses_.for_each_stopped([&](int rank) {
    ++look.stopped;
    if (!losses.is_lost(rank) && pulses_.has_died(rank)) look.dead.push_back(rank);
  });
  if (!look.dead.empty()) Pulses::settle();
  return look;
}

void PulseWatch::take(const Look& look) {
  for (const int rank : look.dead) pulses_.let_others_pass(rank);
  for (const int rank : look.dead) tell_(rank);  // whose thread may want the processor at once
  known_.store(look.stopped, std::memory_order_relaxed);
}

void PulseWatch::let_others_pass(const Losses& losses) const {
  pulses_.for_each_stopped([&](int rank) {
    if (losses.has_ended(rank)) pulses_.let_others_pass(rank);
  });
}

}  // namespace resprout::runtime
