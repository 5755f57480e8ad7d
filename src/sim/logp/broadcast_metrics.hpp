// What is measured of a broadcast.
//
// Corrected Trees, section 4: coloring latency and the gaps that dissemination leaves on the ring.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/logp/engine.hpp"

namespace resprout::sim {

class BroadcastMetrics {
 public:
  struct Payload {};  // the broadcast's: nothing to tell apart

  BroadcastMetrics(std::int32_t procs, Rank root)
      : colored_(static_cast<std::size_t>(procs), never),
        is_reached_(static_cast<std::size_t>(procs)),
        root_(root) {}

  Payload on_send(const Message& message, const Flight& flight) {
    if (message.kind == MessageKind::correction && flight.sent < first_correction_)
      first_correction_ = flight.sent;
    return {};
  }

  void on_receive(Time, const Message& message) {
    if (message.kind == MessageKind::tree) is_reached_[at(message.to)] = true;
  }

  void on_event(Time now, Rank rank, const Event& event, const Payload*) {
    if (event.kind != EventKind::colored && event.kind != EventKind::deliver) return;
    if (event.kind == EventKind::deliver) ++delivered_;
    if (rank == root_) is_reached_[at(rank)] = true;
    colored_[at(rank)] = std::min(colored_[at(rank)], now);
  }

  // When it was colored; never: not at all.
  Time colored(Rank rank) const { return colored_[at(rank)]; }
  std::int64_t deliveries() const { return delivered_; }
  // The start of the first correction message; never: there was none.
  Time first_correction() const { return first_correction_; }

  // The longest run on the closed ring of processes, dead or alive, that were not colored by the
  // end of `time`.
  std::int32_t gap_at(Time time) const {
    return longest_gap([&](std::size_t rank) { return colored_[rank] > time; });
  }
  // The same of processes that no tree message has reached.
  std::int32_t gap_of_tree() const {
    return longest_gap([&](std::size_t rank) { return !is_reached_[rank]; });
  }

 private:
  static std::size_t at(Rank rank) { return static_cast<std::size_t>(index(rank)); }

  template <typename IsMissing>
  std::int32_t longest_gap(IsMissing is_missing) const {
    const std::size_t procs = colored_.size();
    std::size_t run = 0;
    std::size_t longest = 0;
    for (int round = 0; round < 2; ++round) {  // twice: a run may go over the end
      for (std::size_t rank = 0; rank < procs; ++rank) {
        run = is_missing(rank) ? run + 1 : 0;
        longest = std::max(longest, run);
      }
    }
    return static_cast<std::int32_t>(std::min(longest, procs));
  }

  std::vector<Time> colored_;
  std::vector<std::uint8_t> is_reached_;  // by a tree message
  Rank root_;
  Time first_correction_ = never;
  std::int64_t delivered_ = 0;
};

static_assert(Observer<BroadcastMetrics>);

}  // namespace resprout::sim
