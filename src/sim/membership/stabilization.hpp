// The experiments of Scalable Membership, section 7, simulated: how long a membership takes to
// stabilize after a death (figures 4, 5, 6, 8), and what a message takes in a switch that many
// use (figure 7). It is the real machine of protocols/membership that runs here.
//
// Times are nanoseconds. Detection is no part of it, as in the paper: at the beginning the root is
// told of the death.
// Thread rule: pure functions.
#pragma once

#include <cstdint>

#include "core/rank.hpp"
#include "core/time.hpp"

namespace resprout::sim {

enum class NetworkKind : std::uint8_t {
  uniform,  // the base model: every message takes L
  torus,    // L a hop (section 7.1)
  ethernet  // a switch that serializes (section 7.2)
};

struct StabilizationScene {
  std::int32_t procs = 2;  // members, 0 to procs - 1
  std::int32_t radix = 2;
  Rank victim = rank_at(1);  // not the root
  NetworkKind network = NetworkKind::uniform;
  Duration latency = 0;     // L
  Duration processing = 0;  // O_cp: a process takes it when it is told of a change
  Duration service = 0;     // ethernet: of the switch, for a message
  // ethernet: all processes talk besides, in groups of so many and one who talks to them as in
  // figure 7, all the time; 0: they are silent.
  std::int32_t talkers = 0;
  // o: a process takes it for each message that it sends or receives, one after the other.
  Duration overhead = 0;
};

struct Stabilization {
  Duration stabilized = 0;  // T_s: until the root has all acceptances
  Duration installed = 0;   // until the last live process has the view
  std::int64_t messages = 0;
};

// REQUIRES: 2 <= procs <= memberships_max; a valid radix; a victim below procs; no negative times,
// service <= latency.
Stabilization stabilize(const StabilizationScene& scene);

// Figure 7: of as many groups as there is room for among so many nodes, a parent and its
// `children`, who always talk to each other: half of the mean time from the parent's first message
// to the last answer.
// REQUIRES: 1 <= children < nodes; 0 <= service <= latency.
Duration contention_latency(std::int32_t nodes, std::int32_t children, Duration latency,
                            Duration service);

}  // namespace resprout::sim
