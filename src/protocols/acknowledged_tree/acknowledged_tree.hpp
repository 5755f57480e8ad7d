// Acknowledged tree: a broadcast down a tree, and acknowledgments up the same tree.
//
// The traditional way that Corrected Trees, section 4.1, compares itself with (figures 6, 7, 14):
// a leaf acknowledges at once, an inner node after all its children. It tolerates nobody's death;
// but if the root has heard from all its children, everybody has the payload.
//
// Invariants
//  1. A process is colored once, sends to its children in order, and then acknowledges, once.
//  2. Who acknowledges knows that all below it are colored.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>

#include "core/protocol.hpp"
#include "protocols/broadcast/receipt.hpp"
#include "topology/ring.hpp"
#include "topology/tree.hpp"

namespace resprout::protocols {

struct AcknowledgedTreeConfig {
  topology::Tree tree;
  std::int32_t procs;      // as the tree's
  Rank root = rank_at(0);  // rank 0 of the tree; the others follow it
};

class AcknowledgedTree {
 public:
  // REQUIRES: `config` outlives the machine; 0 <= self < config.procs.
  AcknowledgedTree(const AcknowledgedTreeConfig& config, Rank self)
      : config_(&config),
        place_(topology::ring_distance(index(config.root), index(self), config.procs)) {}

  void start(const Context&) {
    if (place_ == 0 && !receipt_.is_colored()) receipt_.become_root(self());
  }

  // `tree` and `acknowledgment`.
  Disposition handle_message(const Context&, const Message& message) {
    if (message.kind == MessageKind::tree && !receipt_.is_colored())
      receipt_.become_colored(message);
    if (message.kind == MessageKind::acknowledgment) ++acknowledged_;
    return Disposition::done;
  }
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context&, Rank) {}

  // `colored` and `deliver` with the first message; the root: `deliver` of its own input.
  std::optional<Event> poll_event(const Context&) { return receipt_.poll(self()); }

  // `tree` with slot `result`, from the root `input`; `acknowledgment` without a payload.
  std::optional<Message> poll_send(const Context&) {
    if (!receipt_.is_colored()) return std::nullopt;
    if (const std::int32_t child = config_->tree.child(place_, sent_); child >= 0) {
      ++sent_;
      return message_to(rank_of(child), MessageKind::tree,
                        place_ == 0 ? Slot::input : Slot::result);
    }
    if (place_ == 0 || has_acknowledged_ != 0 || !is_complete()) return std::nullopt;
    has_acknowledged_ = 1;
    return message_to(receipt_.from(), MessageKind::acknowledgment, Slot::none);
  }

  Deadline poll_timeout(const Context&) const { return {}; }

  // Everybody below this process is colored, and it knows.
  bool is_complete() const {
    return receipt_.is_colored() && acknowledged_ == sent_ &&
           config_->tree.child(place_, sent_) < 0;
  }

 private:
  Rank rank_of(std::int32_t place) const {
    return rank_at(topology::ring_neighbor(place, index(config_->root), config_->procs));
  }
  Rank self() const { return rank_of(place_); }
  Message message_to(Rank to, MessageKind kind, Slot slot) const {
    Message message;
    message.from = self();
    message.to = to;
    message.kind = kind;
    message.slot = slot;
    return message;
  }

  const AcknowledgedTreeConfig* config_;
  std::int32_t place_;             // in the tree
  std::int32_t sent_ = 0;          // to so many children
  std::int32_t acknowledged_ = 0;  // by so many of them
  std::int32_t has_acknowledged_ = 0;
  Receipt receipt_;
};

static_assert(Machine<AcknowledgedTree> && sizeof(AcknowledgedTree) == 32);
static_assert(std::has_unique_object_representations_v<AcknowledgedTree>);

}  // namespace resprout::protocols
