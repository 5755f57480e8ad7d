// What is measured of a reduction whose operator does not mind repetition: who is in the result.
//
// A process's partial result at some time is the union of what it had combined by then. Sets of
// contributors would be as large as the operation is, for each process; so only who sent what to
// whom is written down, and the result is followed back from the root when all is over.
//
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/logp/engine.hpp"

namespace resprout::sim {

class UnionMetrics {
 public:
  using Payload = Time;  // the start of its send

  explicit UnionMetrics(std::int32_t procs) : delivered_(static_cast<std::size_t>(procs), never) {}

  Payload on_send(const Message&, const Flight& flight) { return flight.sent; }
  void on_receive(Time, const Message&) {}
  void on_event(Time now, Rank rank, const Event& event, const Payload* sent) {
    if (event.kind == EventKind::combine)
      combined_.push_back({event.subject, *sent, now});
    else if (event.kind == EventKind::deliver)
      delivered_[at(rank)] = now;
  }

  // When it returned from the operation; never: it did not.
  Time delivered(Rank rank) const { return delivered_[at(rank)]; }

  // By rank, whether its input is in the result of `root`; empty: there is no result.
  std::vector<bool> contributors(Rank root) const {
    if (delivered(root) == never) return {};
    std::vector<bool> is_in(delivered_.size());
    // Until when what a process combined came to the root; before time 0: never.
    std::vector<Time> until(delivered_.size(), Time{-1});
    is_in[at(root)] = true;
    until[at(root)] = never;
    for (auto it = combined_.rbegin(); it != combined_.rend(); ++it) {
      if (it->at > until[at(it->message.to)]) continue;
      is_in[at(it->message.from)] = true;
      Time& senders = until[at(it->message.from)];
      if (it->message.slot == Slot::accumulator) senders = std::max(senders, it->sent);
    }
    return is_in;
  }

 private:
  struct Combined {
    Message message;
    Time sent;
    Time at;
  };

  static std::size_t at(Rank rank) { return static_cast<std::size_t>(index(rank)); }

  std::vector<Combined> combined_;  // in the order of time
  std::vector<Time> delivered_;
};

static_assert(Observer<UnionMetrics>);

}  // namespace resprout::sim
