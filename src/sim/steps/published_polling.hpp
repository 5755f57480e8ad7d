// An allreduce without failures in FTCO's model of steps, asked about as in the simulator that its
// authors have published: what Table 2 of the paper was made with.
//
// FTCO, section 5.2.4 and appendix B. That simulator knows who is dead, so that no answer can come
// too late, and it differs in four rules from what the paper writes (Algorithms 1, 4 and 5):
//  1. Answers and questions are sent before KEEPALIVEs and ACKs are received; DATA still goes
//  first.
//  2. Who misses something asks all its neighbors, not only those whose DATA has not arrived, at
//     intervals of the longer patience of the two.
//  3. Messages are expected at times that count from the beginning of the operation, so who enters
//     late asks at once.
//  4. Who has not entered answers KEEPALIVEs only, and does so in the step in which it receives
//     one. Whose DATA lies there unread waits for its answer and does not ask.
// All neighbors are at distance 1, so the service distance has no part in this. Event-driven, as
// StepEngine. Thread rule: one thread an object.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "protocols/ftco_in_band/ftco_in_band.hpp"
#include "sim/logp/time_wheel.hpp"
#include "sim/steps/engine.hpp"

namespace resprout::sim {

class PublishedPolling {
 public:
  // REQUIRES: an allreduce.
  explicit PublishedPolling(const protocols::FtcoInBandConfig& config);

  // One operation; `entries`: when each process enters; empty: all at time 0.
  StepTotals run(std::span<const Time> entries);

 private:
  enum Kind : std::uint8_t { data, keepalive, acknowledgment };
  enum class Phase : std::uint8_t { collecting, passing, waiting, announcing, finished };

  // What a process remembers of a neighbor: one end of an edge.
  struct Neighbor {
    std::int32_t process;   // who it is
    std::int32_t mirror;    // the other end
    std::int32_t interval;  // between two questions
    bool owes_answer = false;
    bool is_asked = false;
    bool is_heard = false;  // something has come from it
    Time sent{};            // DATA or a question
  };

  // The first message of a kind in a queue, and the last one.
  struct Line {
    std::int32_t first = -1;
    std::int32_t last = -1;
  };

  struct Process {
    std::int32_t begin;    // its neighbors: those above it, or other roots,
    std::int32_t below;    // then its children,
    std::int32_t end;      // up to here
    Time contributions{};  // expected
    Time result{};
    Time enters{};
    Time looks_next = never;
    std::int32_t missing_below = 0;
    std::int32_t missing_above = 0;
    std::int32_t next = 0;  // neighbor to send DATA to
    std::int32_t owed = 0;
    std::int32_t length = 0;  // of the queue
    std::int32_t longest = 0;
    std::array<Line, 3> lines;
    Phase phase = Phase::collecting;
  };

  struct Flight {
    std::int32_t process;
    std::int32_t neighbor;  // who sends it, as the receiver knows it
    Kind kind;
  };

  struct Waiting {
    std::int32_t neighbor;
    std::int32_t after;
  };

  void add_neighbors(const topology::RangeForest& forest);
  void reset(std::span<const Time> entries);
  void arrive(const Flight& flight);
  void look_at(std::int32_t rank, Time when);
  void look(std::int32_t rank);
  bool act(Process& self);
  void act_early(Process& self);
  bool send_data(Process& self);
  bool receive(Process& self, Kind kind);
  bool answer(Process& self);
  bool ask(Process& self);
  bool is_missing(const Process& self) const;
  Time next_question(const Process& self) const;
  Neighbor* take(Process& self, Kind kind);
  void send(Neighbor& to, Kind kind);
  void handle_data(Process& self, const Neighbor& from);
  void maybe_finish(std::int32_t rank);

  protocols::Timing timing_;
  std::vector<Process> processes_;
  std::vector<Neighbor> neighbors_;
  std::vector<Waiting> pool_;
  std::int32_t free_ = -1;
  TimeWheel<Flight> flights_;
  TimeWheel<std::int32_t> looks_;
  std::int64_t unfinished_ = 0;
  Time now_{};
  StepTotals totals_;
  Digest digest_;
};

}  // namespace resprout::sim
