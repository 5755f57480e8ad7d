// Corrected tree broadcast: dissemination over a tree, correction on the ring.
//
// Corrected Trees, sections 3.1 to 3.3. It needs no failure detector. What it promises:
// docs/protocols/corrected_tree.md.
//
// A correction that goes left comes from the right. It says which way it goes (`tag`), because on a
// small ring its sender is found on both sides.
//
// Invariants
//  1. A process sends only when it is colored, and it is colored only once.
//  2. Tree messages come before corrections.
//  3. A side that is closed stays closed: what was sent only grows, the nearest sender heard only
//     comes nearer.
//  4. Frozen: nothing is handled, said or sent any more.
// All in the header, so that the simulator can inline it: but what is rare in the life of a
// process, lest it takes registers from what is not. Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/invariant.hpp"
#include "core/protocol.hpp"
#include "protocols/corrected_tree/config.hpp"
#include "topology/ring.hpp"

namespace resprout::protocols {

class CorrectedTree {
 public:
  // REQUIRES: `config` outlives the machine and all copies of it; 0 <= self < config.procs.
  CorrectedTree(const CorrectedTreeConfig& config, Rank self)
      : config_(&config), self_(index(self)) {
    RESPROUT_INVARIANT(config.procs == config.tree.procs());
    RESPROUT_INVARIANT(index(self) >= 0 && index(self) < config.procs);
  }

  void start(const Context& context) {
    if (!is_root() || is_colored() || is_frozen()) return;
    state_ = State::by_tree;
    pending_ = Pending::deliver;
    next_child_ = existing_child(0);
    join_correction(context);
  }

  // `tree` and `correction`. Colors at first; a correction also tells who else is at work.
  Disposition handle_message(const Context& context, const Message& message);

  void handle_timeout(const Context& context) {
    if (phase_ == Phase::waiting && context.now >= config_->correction_start)
      phase_ = Phase::correcting;
  }
  void handle_suspicion(const Context&, Rank) {}

  // `colored` and `deliver` with the first message; the root: `deliver` of its own input.
  std::optional<Event> poll_event(const Context& context);

  // Slot: `result`, from the root `input`.
  std::optional<Message> poll_send(const Context& context);

  Deadline poll_timeout(const Context& context) const;

  // Has the payload, or had it when it was frozen.
  bool is_colored() const { return state_ != State::uncolored; }

  void freeze() {
    pending_ = Pending::frozen;
    next_child_ = -1;
    phase_ = Phase::passive;
  }

 private:
  enum class State : std::uint8_t { uncolored, by_tree, by_correction };
  enum class Pending : std::uint8_t { frozen, nothing, colored, deliver };
  enum class Phase : std::uint8_t { passive, waiting, correcting };  // in the correction
  enum class Direction : std::uint16_t { left, right };

  static constexpr auto ring_distance = topology::ring_distance;
  static constexpr std::int32_t nobody = INT32_MAX;  // is infinitely far away

  bool is_root() const { return rank_at(self_) == config_->root; }
  bool is_frozen() const { return pending_ == Pending::frozen; }
  std::int32_t existing_child(std::int32_t i) const { return child(i) >= 0 ? i : -1; }
  std::int32_t child(std::int32_t i) const {
    return config_->tree.child(ring_distance(index(config_->root), self_, config_->procs), i);
  }
  void hear(const Message& correction);
  // The message by value: whose address is not taken can stay in registers.
  [[gnu::noinline]] void become_colored(const Context& context, Message message) {
    const bool is_overlapped = config_->start == StartMode::overlapped;
    const bool is_early = message.kind == MessageKind::correction;
    state_ = is_early ? State::by_correction : State::by_tree;
    pending_ = Pending::colored;
    colored_by_ = message.from;
    slot_ = message.slot;
    // When synchronized correction colors a process, dissemination is over.
    if (!is_early || is_overlapped) next_child_ = existing_child(0);
    if (!is_early || (is_overlapped && config_->early == EarlyPolicy::join))
      join_correction(context);
  }
  void join_correction(const Context& context);
  std::optional<Direction> next_direction() const;
  std::optional<Direction> next_checked() const;
  std::optional<Direction> next_opportunistic() const;
  [[gnu::noinline]] Rank take_child() {
    const std::int32_t to = child(next_child_);
    next_child_ = existing_child(next_child_ + 1);
    return rank_at(topology::ring_neighbor(to, index(config_->root), config_->procs));
  }
  Rank take_neighbor(Direction direction);

  const CorrectedTreeConfig* config_;
  std::int32_t self_;
  std::int32_t next_child_ = -1;  // the child that is sent to next; -1: none, or none any more
  std::int32_t left_sent_ = 0;    // how far corrections went, or count as having gone
  std::int32_t right_sent_ = 0;
  std::int32_t left_heard_ = nobody;  // distance of the nearest sender heard from there
  std::int32_t right_heard_ = nobody;
  Rank colored_by_ = no_rank;
  State state_ = State::uncolored;
  Pending pending_ = Pending::nothing;
  Slot slot_ = Slot::input;  // of the message that colored
  Phase phase_ = Phase::passive;
};

static_assert(Machine<CorrectedTree>);
static_assert(sizeof(CorrectedTree) == 40);
static_assert(std::has_unique_object_representations_v<CorrectedTree>);

inline Disposition CorrectedTree::handle_message(const Context& context, const Message& message) {
  const bool is_correction = message.kind == MessageKind::correction;
  if (is_frozen() || !(is_correction || message.kind == MessageKind::tree))
    return Disposition::done;
  if (is_correction) hear(message);
  if (!is_colored()) become_colored(context, message);
  return Disposition::done;
}

inline void CorrectedTree::join_correction(const Context& context) {
  if (config_->correction == Correction::none) return;
  const bool waits =
      config_->start == StartMode::synchronized && context.now < config_->correction_start;
  phase_ = waits ? Phase::waiting : Phase::correcting;
}

inline void CorrectedTree::hear(const Message& correction) {
  const std::int32_t from = index(correction.from);
  const bool is_from_left = correction.tag == static_cast<std::uint16_t>(Direction::right);
  const std::int32_t distance = is_from_left ? ring_distance(from, self_, config_->procs)
                                             : ring_distance(self_, from, config_->procs);
  std::int32_t& heard = is_from_left ? left_heard_ : right_heard_;
  if (distance < heard) heard = distance;

  if (config_->correction != Correction::optimized_opportunistic) return;
  // The sender covers all that lies behind it, and `distance - its distance` places behind us.
  std::int32_t& behind_us = is_from_left ? right_sent_ : left_sent_;
  const std::int32_t covered = config_->distance - distance;
  if (covered > behind_us) behind_us = covered;
}

inline std::optional<Event> CorrectedTree::poll_event(const Context&) {
  if (pending_ <= Pending::nothing) return std::nullopt;
  // The message just handled: it is the only one so far, so its direction is known too.
  Message subject;
  subject.from = is_root() ? config_->root : colored_by_;
  subject.to = rank_at(self_);
  subject.kind = state_ == State::by_tree ? MessageKind::tree : MessageKind::correction;
  subject.slot = slot_;
  subject.tag =
      static_cast<std::uint16_t>(left_heard_ != nobody ? Direction::right : Direction::left);
  const EventKind kind = pending_ == Pending::colored ? EventKind::colored : EventKind::deliver;
  pending_ = pending_ == Pending::colored ? Pending::deliver : Pending::nothing;
  return Event{kind, subject};
}

// Put together at one place, so that a compiler can keep it in registers.
inline std::optional<Message> CorrectedTree::poll_send(const Context&) {
  Rank to = no_rank;
  MessageKind kind = MessageKind::tree;
  Direction direction = Direction::left;
  if (next_child_ >= 0) {
    to = take_child();
  } else {
    if (phase_ != Phase::correcting) return std::nullopt;
    const std::optional<Direction> next = next_direction();
    if (!next) return std::nullopt;
    kind = MessageKind::correction;
    direction = *next;
    to = take_neighbor(direction);
  }
  return Message{.from = rank_at(self_),
                 .to = to,
                 .kind = kind,
                 .slot = is_root() ? Slot::input : Slot::result,
                 .tag = static_cast<std::uint16_t>(direction)};
}

inline std::optional<CorrectedTree::Direction> CorrectedTree::next_direction() const {
  if (left_sent_ + right_sent_ >= config_->procs - 1) return std::nullopt;  // covers the ring
  return config_->correction == Correction::checked ? next_checked() : next_opportunistic();
}

// First left, then in turns while both sides are open.
inline std::optional<CorrectedTree::Direction> CorrectedTree::next_checked() const {
  const bool is_left_open = left_sent_ < left_heard_;
  const bool is_right_open = right_sent_ < right_heard_;
  if (is_left_open && (left_sent_ <= right_sent_ || !is_right_open)) return Direction::left;
  return is_right_open ? std::optional(Direction::right) : std::nullopt;
}

// First right, then in turns, `distance` to each side.
inline std::optional<CorrectedTree::Direction> CorrectedTree::next_opportunistic() const {
  const bool stops_at_sender = config_->correction == Correction::optimized_opportunistic;
  const bool is_left_open =
      left_sent_ < config_->distance && !(stops_at_sender && left_heard_ != nobody);
  const bool is_right_open =
      right_sent_ < config_->distance && !(stops_at_sender && right_heard_ != nobody);
  if (is_right_open && (right_sent_ <= left_sent_ || !is_left_open)) return Direction::right;
  return is_left_open ? std::optional(Direction::left) : std::nullopt;
}

inline Rank CorrectedTree::take_neighbor(Direction direction) {
  const std::int32_t offset = direction == Direction::left ? -++left_sent_ : ++right_sent_;
  return rank_at(topology::ring_neighbor(self_, offset, config_->procs));
}

inline Deadline CorrectedTree::poll_timeout(const Context&) const {
  if (phase_ != Phase::waiting) return {};
  return {config_->correction_start, "start of synchronized correction"};
}

}  // namespace resprout::protocols
