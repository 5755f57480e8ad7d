// Revoke: one process's part in the interruption of one communicator.
//
// Plan B (Revoke), sections 3.1 to 3.3: a reliable broadcast without uniformity, without order, and
// without a root. A process that revokes, or hears of it for the first time, tells all its
// neighbors in the binomial graph of the communicator's ranks, once, and acts on it at once. A
// notice says nothing: which communicator it is about (its number and its epoch) is said by what
// carries it.
//
// Beyond the paper: the ring is kept closed over the dead. Where the next rank to the right or to
// the left is suspected, the one behind it is told as well. So the notice reaches every live
// process in whatever way the dead have cut the graph, as soon as they are suspected.
//
// Invariants
//  1. Once revoked, always revoked; `revoked` is said once. Nothing is sent before.
//  2. Nobody is told twice by the same process, and no suspect is told.
//  3. Who is revoked tells, in the end, the first rank to its right and to its left that it does
//     not suspect, if the ring is closed.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "topology/binomial_graph.hpp"

namespace resprout::protocols {

struct RevokeConfig {
  std::int32_t procs;       // of the communicator
  bool closes_ring = true;  // over the dead; without, it is the paper's
};

class Revoke {
 public:
  // REQUIRES: 0 <= self < config.procs. `config` is copied.
  Revoke(const RevokeConfig& config, Rank self)
      : graph_{config.procs},
        self_(index(self)),
        right_(config.closes_ring ? 1 : config.procs),
        left_(right_) {}

  // The program of this process revokes the communicator. May come at any time after start, and
  // again.
  void revoke(const Context& context);
  bool is_revoked() const { return is_revoked_ != 0; }

  void start(const Context&) {}
  // `revocation`.
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context&) {}
  // Who is suspected is looked up in the context: after this there may be somebody to send to.
  void handle_suspicion(const Context&, Rank) {}

  // `revoked`.
  std::optional<Event> poll_event(const Context& context);
  // `revocation` without a payload.
  std::optional<Message> poll_send(const Context& context);
  // It waits for nobody.
  Deadline poll_timeout(const Context&) const { return {}; }

 private:
  void become_revoked(Rank by);
  // Whom to tell next, which counts as done then; -1: nobody.
  std::int32_t next_target(const Suspects& suspects);
  std::int32_t next_on_ring(const Suspects& suspects, std::int32_t& covered, std::int32_t side);
  bool is_ring_covered() const { return std::int64_t{right_} + left_ >= graph_.procs - 1; }

  topology::BinomialGraph graph_;
  std::int32_t self_;
  Rank by_ = no_rank;  // whose word it was
  // The ring to the right, and to the left, up to this distance: all have been told or are
  // suspected, or nobody cares. The two grow only as long as they do not overlap.
  std::int32_t right_;
  std::int32_t left_;
  std::int16_t links_done_ = 0;
  std::uint8_t is_revoked_ = 0;
  std::uint8_t is_said_ = 0;
};

static_assert(Machine<Revoke> && sizeof(Revoke) == 24);
static_assert(std::has_unique_object_representations_v<Revoke>);

}  // namespace resprout::protocols
