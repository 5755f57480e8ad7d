// Multi-tree broadcast: the payload goes down several trees at once, whose inner nodes differ.
//
// A baseline of Corrected Trees, section 5. If the trees are disjoint (topology/multi_tree.hpp), t
// trees color everybody alive if less than t processes fail, whenever they do, and the root lives.
// Each process gets t messages. A process sends to its children as soon as it is colored, by
// whichever tree.
//
// Invariant: a process is colored once, and sends to each child of each tree once.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>

#include "core/protocol.hpp"
#include "protocols/broadcast/receipt.hpp"
#include "topology/multi_tree.hpp"
#include "topology/ring.hpp"

namespace resprout::protocols {

struct MultiTreeConfig {
  topology::MultiTree trees;
  std::int32_t procs;      // as the trees'
  Rank root = rank_at(0);  // rank 0 of the trees; the others follow it
};

class MultiTree {
 public:
  // REQUIRES: `config` outlives the machine; 0 <= self < config.procs.
  MultiTree(const MultiTreeConfig& config, Rank self)
      : config_(&config),
        place_(topology::ring_distance(index(config.root), index(self), config.procs)) {}

  void start(const Context&) {
    if (place_ != 0 || receipt_.is_colored()) return;
    receipt_.become_root(self());
    become_sending();
  }

  Disposition handle_message(const Context&, const Message& message) {
    if (message.kind != MessageKind::tree || receipt_.is_colored()) return Disposition::done;
    receipt_.become_colored(message);
    become_sending();
    return Disposition::done;
  }
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context&, Rank) {}

  // `colored` and `deliver` with the first message; the root: `deliver` of its own input.
  std::optional<Event> poll_event(const Context&) { return receipt_.poll(self()); }

  // `tree`, with the number of the tree as tag. Slot: `result`, from the root `input`.
  std::optional<Message> poll_send(const Context&) {
    if (tree_ == config_->trees.trees()) return std::nullopt;
    Message message;
    message.from = self();
    message.to = rank_of(config_->trees.child(tree_, place_, child_));
    message.kind = MessageKind::tree;
    message.slot = place_ == 0 ? Slot::input : Slot::result;
    message.tag = static_cast<std::uint16_t>(tree_);
    ++child_;
    find_child();
    return message;
  }

  Deadline poll_timeout(const Context&) const { return {}; }

 private:
  Rank rank_of(std::int32_t place) const {
    return rank_at(topology::ring_neighbor(place, index(config_->root), config_->procs));
  }
  Rank self() const { return rank_of(place_); }
  void become_sending() {
    tree_ = 0;
    find_child();
  }
  // Goes on to the next tree until there is a child that was not sent to.
  void find_child() {
    for (; tree_ < config_->trees.trees(); ++tree_, child_ = 0)
      if (config_->trees.child(tree_, place_, child_) >= 0) return;
  }

  const MultiTreeConfig* config_;
  std::int32_t place_;                          // in the trees
  std::int32_t tree_ = config_->trees.trees();  // who is sent to next; all trees: nobody
  std::int32_t child_ = 0;
  [[maybe_unused]] std::int32_t padding_ = 0;  // no bytes of chance: states are compared bytewise
  Receipt receipt_;
};

static_assert(Machine<MultiTree> && sizeof(MultiTree) == 32);
static_assert(std::has_unique_object_representations_v<MultiTree>);

}  // namespace resprout::protocols
