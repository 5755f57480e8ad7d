// Failure detector of one process: heartbeats to its neighbors, and suspicion of those that are
// silent.
//
// Beyond FTCO, section 4, which detects failures inside each operation: this one serves all of
// them. It is honest about its own health: if its own deadline is served late, this process has
// slept, not its neighbors, and they are given that much more time, and more patience until it has
// been on time again as often (local_health.hpp).
//
// Invariants
//  1. A neighbor is suspected after `timeout` of silence in which this process was awake, stretched
//     by its own health.
//  2. `suspect` is said once of each neighbor, and never of one that others have reported.
// Thread rule: a value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/protocol.hpp"
#include "protocols/failure_detector/local_health.hpp"
#include "protocols/failure_detector/silence.hpp"

namespace resprout::protocols {

struct FailureDetectorConfig {
  Duration period;   // from heartbeat to heartbeat
  Duration timeout;  // of silence; several periods
};

class FailureDetector {
 public:
  static constexpr std::uint32_t neighbors_max = 64;

  // `neighbors` watch this process as it watches them.
  // REQUIRES: `config` outlives the machine; at most neighbors_max neighbors; period > 0.
  FailureDetector(const FailureDetectorConfig& config, Rank self, std::span<const Rank> neighbors);

  void start(const Context& context);
  // Any message of a neighbor is a sign of life.
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context& context);
  // Somebody else has found out: `rank` is neither watched nor told anything any more.
  void handle_suspicion(const Context& context, Rank rank);

  std::optional<Event> poll_event(const Context& context);
  std::optional<Message> poll_send(const Context& context);
  Deadline poll_timeout(const Context& context) const;

 private:
  std::uint32_t find(Rank rank) const;
  bool is_watched(std::uint32_t neighbor) const { return (watched_ >> neighbor & 1) != 0; }
  // The first deadline of a silence; `never` if nobody is watched.
  Time earliest_verdict() const;

  const FailureDetectorConfig* config_;
  std::uint64_t watched_ = 0;  // bit i: neighbor i
  std::uint64_t silent_ = 0;   // suspected, and not yet said
  Time next_beat_ = never;
  Rank self_;
  std::uint32_t count_;
  std::uint32_t beaten_;  // how many neighbors have had the current heartbeat
  LocalHealth health_;
  std::array<Silence, neighbors_max> silences_{};
  std::array<Rank, neighbors_max> neighbors_{};
};

static_assert(Machine<FailureDetector>);

}  // namespace resprout::protocols
