// What is measured of a reduction: how many contributed, and when everybody knew.
//
// Payloads are counts of contributors; that nobody is counted twice is what src/sim/swarm checks.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/logp/engine.hpp"

namespace resprout::sim {

class ReductionMetrics {
 public:
  using Payload = std::int32_t;  // contributors; 0: no payload came along

  explicit ReductionMetrics(std::int32_t procs) : processes_(static_cast<std::size_t>(procs)) {}

  Payload on_send(const Message& message, const Flight&) {
    const Process& sender = at(message.from);
    switch (message.slot) {
      case Slot::none:
        return 0;
      case Slot::input:
        return 1;
      case Slot::accumulator:
        return sender.accumulator;
      case Slot::result:
        return sender.result;
    }
    return 0;
  }

  void on_receive(Time, const Message&) {}

  void on_event(Time now, Rank rank, const Event& event, const Payload* payload) {
    Process& process = at(rank);
    if (event.kind == EventKind::combine) process.accumulator += *payload;
    if (event.kind == EventKind::adopt) process.accumulator = *payload;
    if (event.kind == EventKind::restart)
      process.accumulator = event.subject.slot == Slot::result ? process.result : 1;
    if (event.kind != EventKind::deliver) return;
    process.delivered = now;
    if (event.subject.from == rank)
      process.result = process.accumulator;
    else if (payload != nullptr)
      process.result = *payload;
  }

  // When it returned from the operation; never: it did not.
  Time delivered(Rank rank) const { return at(rank).delivered; }
  // Of the result that it has; 0: it has none.
  std::int32_t contributors(Rank rank) const { return at(rank).result; }

 private:
  struct Process {
    std::int32_t accumulator = 1;
    std::int32_t result = 0;
    Time delivered = never;
  };

  Process& at(Rank rank) { return processes_[static_cast<std::size_t>(index(rank))]; }
  const Process& at(Rank rank) const { return processes_[static_cast<std::size_t>(index(rank))]; }

  std::vector<Process> processes_;
};

static_assert(Observer<ReductionMetrics>);

}  // namespace resprout::sim
