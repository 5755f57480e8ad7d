// Corrected tree broadcast: dissemination over a tree, correction on the ring.
//
// Corrected Trees, sections 3.1 to 3.3. It needs no failure detector. What it promises:
// docs/explanation/protocols/corrected_tree.md. The corrections: protocols/correction/.
//
// Invariants
//  1. A process sends only when it is colored, and it is colored only once.
//  2. Tree messages come before corrections.
//  3. Frozen: nothing is handled, said or sent any more.
// All in the header, so that the simulator can inline it: but what is rare in the life of a
// process, lest it takes registers from what is not. Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/invariant.hpp"
#include "core/protocol.hpp"
#include "protocols/broadcast/receipt.hpp"
#include "protocols/corrected_tree/config.hpp"
#include "protocols/correction/any.hpp"
#include "protocols/correction/corrector.hpp"
#include "topology/ring.hpp"

namespace resprout::protocols {

template <RingCorrection C>
class CorrectedTreeOf {
 public:
  using Config = CorrectedTreeConfig;

  // REQUIRES: `config` outlives the machine and all copies of it; 0 <= self < config.procs; C is,
  // or can be, of the kind that the config asks for.
  CorrectedTreeOf(const CorrectedTreeConfig& config, Rank self)
      : config_(&config), corrector_(config.correction, self) {
    RESPROUT_INVARIANT(config.procs == config.tree.procs());
    RESPROUT_INVARIANT(index(self) >= 0 && index(self) < config.procs);
  }

  void start(const Context& context) {
    if (!is_root() || is_colored() || receipt_.is_frozen()) return;
    receipt_.become_root(self());
    next_child_ = existing_child(0);
    join_correction(context);
  }

  // `tree` and `correction`. Colors at first; a correction also tells who else is at work.
  Disposition handle_message(const Context& context, const Message& message) {
    const bool is_correction = message.kind == MessageKind::correction;
    if (receipt_.is_frozen() || !(is_correction || message.kind == MessageKind::tree))
      return Disposition::done;
    if (is_correction) corrector_.hear(view(context), message);
    if (!is_colored()) become_colored(context, message);
    return Disposition::done;
  }

  void handle_timeout(const Context& context) {
    corrector_.handle_timeout(view(context), correction_start());
  }
  void handle_suspicion(const Context&, Rank) {}

  // `colored` and `deliver` with the first message; the root: `deliver` of its own input.
  std::optional<Event> poll_event(const Context&) { return receipt_.poll(self()); }

  // Slot: `result`, from the root `input`.
  std::optional<Message> poll_send(const Context& context) {
    if (next_child_ >= 0)
      return Message{.from = self(), .to = take_child(), .kind = MessageKind::tree, .slot = slot()};
    return corrector_.next(view(context), slot());
  }

  Deadline poll_timeout(const Context& context) const {
    return corrector_.deadline(view(context), correction_start());
  }

  // Has the payload, or had it when it was frozen.
  bool is_colored() const { return receipt_.is_colored(); }

  // The root has sent its payload past the tree. It counts as if the parent had sent it: the
  // process's own children wait for it.
  void handle_supply(const Context& context, const Message& message) {
    if (!receipt_.is_frozen() && !is_colored()) become_colored(context, message);
  }

  // A correction without its payload. It tells who else is at work.
  void handle_offer(const Context& context, const Message& message) {
    if (!receipt_.is_frozen()) corrector_.hear(view(context), message);
  }

  // Whether only corrections, or asking for the payload, can reach an uncolored process.
  bool needs_correction(const Context& context) const { return may_be_missed(context); }

  // Whether an uncolored process has to do something about it itself: else every process between
  // the root and this one lives, and the payload is on its way.
  [[gnu::noinline]] bool may_be_missed(const Context& context) const {
    std::int32_t node =
        topology::ring_distance(index(config_->root), index(self()), config_->procs);
    while ((node = config_->tree.parent(node)) > 0) {
      const auto rank = topology::ring_neighbor(node, index(config_->root), config_->procs);
      if (context.suspects.contains(rank_at(rank))) return true;
    }
    return false;
  }

  // From whom an uncolored process expects the payload: its parent or, if that is suspected, the
  // root. From place 0 on, no_rank: no more.
  Rank next_supplier(const Context& context, std::int32_t& place) const {
    if (place++ > 0 || is_root()) return no_rank;
    const std::int32_t node =
        topology::ring_distance(index(config_->root), index(self()), config_->procs);
    const Rank parent = rank_at(
        topology::ring_neighbor(config_->tree.parent(node), index(config_->root), config_->procs));
    return context.suspects.contains(parent) ? config_->root : parent;
  }

  void freeze() {
    receipt_.freeze();
    next_child_ = -1;
    corrector_.leave();
  }

 private:
  Rank self() const { return corrector_.self(); }
  bool is_root() const { return self() == config_->root; }
  bool is_overlapped() const { return config_->start == StartMode::overlapped; }
  Time correction_start() const { return is_overlapped() ? whenever : config_->correction_start; }
  RingView view(const Context& context) const {
    return {config_->correction, config_->procs, context.now};
  }
  Slot slot() const { return is_root() ? Slot::input : Slot::result; }
  std::int32_t existing_child(std::int32_t i) const { return child(i) >= 0 ? i : -1; }
  std::int32_t child(std::int32_t i) const {
    return config_->tree.child(
        topology::ring_distance(index(config_->root), index(self()), config_->procs), i);
  }
  // The message by value: whose address is not taken can stay in registers.
  [[gnu::noinline]] void become_colored(const Context& context, Message message) {
    const bool is_early = message.kind == MessageKind::correction;
    receipt_.become_colored(message);
    // When synchronized correction colors a process, dissemination is over.
    if (!is_early || is_overlapped()) next_child_ = existing_child(0);
    if (!is_early || (is_overlapped() && config_->early == EarlyPolicy::join))
      join_correction(context);
  }
  void join_correction(const Context& context) {
    corrector_.join(view(context), correction_start());
  }
  [[gnu::noinline]] Rank take_child() {
    const std::int32_t to = child(next_child_);
    next_child_ = existing_child(next_child_ + 1);
    return rank_at(topology::ring_neighbor(to, index(config_->root), config_->procs));
  }

  const CorrectedTreeConfig* config_;
  Corrector<C> corrector_;
  std::int32_t next_child_ = -1;  // the child that is sent to next; -1: none, or none any more
  Receipt receipt_;
};

// With a correction that is chosen at run time.
using CorrectedTree = CorrectedTreeOf<AnyCorrection>;

static_assert(Machine<CorrectedTree>);
static_assert(sizeof(CorrectedTree) == 48 && sizeof(CorrectedTreeOf<Checked>) == 40);
static_assert(std::has_unique_object_representations_v<CorrectedTree>);

}  // namespace resprout::protocols
