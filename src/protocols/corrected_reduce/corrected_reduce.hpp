// Corrected reduce: correction on the ring first, then up a tree; corrected broadcast played
// backwards.
//
// Corrected Trees, section 1: "applying correction before dissemination allows to create a
// reduction tree". Each process sends its input to its neighbors on the ring, `distance` to each
// side, and combines what it gets; then partial results go up the tree by the clock, since nobody
// can tell a late child from a dead one. docs/explanation/protocols/corrected_reduce.md has what it
// promises, and why it must know the time and an operator that does not mind repetition (max, min,
// and, or).
//
// Invariants
//  1. Corrections carry the input, never more: what a process adds is from at most `distance` away.
//  2. A process combines until it is due, and then sends its partial result up, once.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>

#include "core/protocol.hpp"
#include "protocols/corrected_reduce/schedule.hpp"
#include "protocols/correction/opportunistic.hpp"
#include "topology/ring.hpp"
#include "topology/tree.hpp"

namespace resprout::protocols {

struct CorrectedReduceConfig {
  topology::Tree tree;
  std::int32_t procs;      // as the tree's
  Rank root = rank_at(0);  // rank 0 of the tree; the others follow it on the ring
  CorrectionRules correction{.kind = Correction::opportunistic};
  Time begin{};          // of the operation, the same everywhere
  Duration tree_time{};  // in which a fault-free broadcast down the tree colors everybody
  Duration hop{};        // a message without contention
  Duration spacing{};    // between the starts of two sends of one process
};

class CorrectedReduce {
 public:
  // REQUIRES: `config` outlives the machine; 0 <= self < config.procs.
  CorrectedReduce(const CorrectedReduceConfig& config, Rank self)
      : config_(&config), self_(index(self)) {}

  void start(const Context&) {
    if (phase_ != Phase::outside) return;
    phase_ = Phase::collecting;
    due_ = config_->begin + (correction_time(config_->procs, config_->correction.distance,
                                             config_->hop, config_->spacing) +
                             config_->tree_time -
                             colored_after(config_->tree, place(), config_->hop, config_->spacing));
  }

  // `correction` and `contribution`: to be combined, if they come in time.
  Disposition handle_message(const Context&, const Message& message) {
    const bool is_ours =
        message.kind == MessageKind::correction || message.kind == MessageKind::contribution;
    if (!is_ours || phase_ != Phase::collecting) return Disposition::done;
    subject_ = message;
    pending_ = EventKind::combine;
    has_pending_ = 1;
    return Disposition::done;
  }

  void handle_timeout(const Context& context) {
    if (phase_ != Phase::collecting || context.now < due_) return;
    phase_ = is_root() ? Phase::done : Phase::due;
    subject_ = {};
    subject_.from = is_root() ? rank_at(self_) : no_rank;
    subject_.to = rank_at(self_);
    subject_.kind = MessageKind::contribution;
    subject_.slot = is_root() ? Slot::accumulator : Slot::none;
    pending_ = EventKind::deliver;
    has_pending_ = 1;
  }
  void handle_suspicion(const Context&, Rank) {}

  // combine; deliver: the root its result, all others that their part is done.
  std::optional<Event> poll_event(const Context&) {
    if (has_pending_ == 0) return std::nullopt;
    has_pending_ = 0;
    return Event{pending_, subject_};
  }

  // `correction` with slot `input`, then one `contribution` with slot `accumulator`.
  std::optional<Message> poll_send(const Context& context) {
    if (phase_ == Phase::due) {
      phase_ = Phase::done;
      const std::int32_t parent = config_->tree.parent(place());
      return message_to(topology::ring_neighbor(parent, index(config_->root), config_->procs),
                        MessageKind::contribution, Slot::accumulator);
    }
    if (phase_ != Phase::collecting) return std::nullopt;
    const std::int32_t offset = next_opportunistic(
        {config_->correction, config_->procs, context.now}, reach_, false, false);
    if (offset == 0) return std::nullopt;
    return message_to(topology::ring_neighbor(self_, offset, config_->procs),
                      MessageKind::correction, Slot::input);
  }

  Deadline poll_timeout(const Context&) const {
    if (phase_ != Phase::collecting) return {};
    return {due_, "the time at which all children have sent"};
  }

 private:
  enum class Phase : std::uint8_t { outside, collecting, due, done };

  bool is_root() const { return rank_at(self_) == config_->root; }
  std::int32_t place() const {
    return topology::ring_distance(index(config_->root), self_, config_->procs);
  }
  Message message_to(std::int32_t to, MessageKind kind, Slot slot) const {
    Message message;
    message.from = rank_at(self_);
    message.to = rank_at(to);
    message.kind = kind;
    message.slot = slot;
    return message;
  }

  const CorrectedReduceConfig* config_;
  Time due_{};
  Message subject_{};  // of the pending event
  Reach reach_;
  std::int32_t self_;
  Phase phase_ = Phase::outside;
  EventKind pending_ = EventKind::combine;
  std::uint8_t has_pending_ = 0;
  [[maybe_unused]] std::uint8_t padding_ = 0;  // no bytes of chance: states are compared bytewise
};

static_assert(Machine<CorrectedReduce> && sizeof(CorrectedReduce) == 48);
static_assert(std::has_unique_object_representations_v<CorrectedReduce>);

}  // namespace resprout::protocols
