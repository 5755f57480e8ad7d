// Reliable broadcast: a corrected tree or corrected gossip, and what to do when it was not enough.
//
// Corrected Trees (sections 2.1 and 3) promises that everybody is colored if the root lives and
// nobody dies while the tree is being corrected. What is left over needs a failure detector:
//   offer       a correction without its payload: who needs it asks its sender
//   pull        the root lives: who may be missed, and has waited for long, asks it
//   settlement  the root is suspected: all take part in an allreduce of "the payload, if I have
//               it", also those who have returned. Either all survivors deliver, or all fail
// docs/explanation/protocols/reliable_broadcast.md says why.
//
// Invariants
//  1. `deliver` or `fail` is said once, by whichever way is first.
//  2. Who has begun the settlement is frozen: whether it has the payload was settled then, and
//     tree, correction and supply are ignored from there on.
//  3. A process asks one at a time: another only when that one is suspected.
//  4. The settlement's payload is wherever this process has it; bytes are moved only if it has
//     none.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "protocols/corrected_gossip/corrected_gossip.hpp"
#include "protocols/corrected_tree/corrected_tree.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"

namespace resprout::protocols {

// What a dissemination has to be able to do besides what every machine can.
template <typename D>
concept Dissemination =
    Machine<D> &&
    requires(D machine, const D constant, const Context& context, const Message& message,
             const typename D::Config& config, std::int32_t& place) {
      { config.needs_common_clock() } -> std::same_as<bool>;
      { constant.is_colored() } -> std::same_as<bool>;
      { constant.may_be_missed(context) } -> std::same_as<bool>;
      { constant.needs_correction(context) } -> std::same_as<bool>;
      { constant.next_supplier(context, place) } -> std::same_as<Rank>;
      { machine.handle_offer(context, message) } -> std::same_as<void>;
      { machine.handle_supply(context, message) } -> std::same_as<void>;
      { machine.freeze() } -> std::same_as<void>;
    };

template <Dissemination D>
struct ReliableBroadcastConfigOf {
  ReliableBroadcastConfigOf(const typename D::Config& config, std::int32_t settlement_radix,
                            Duration pull_patience)
      : dissemination(config),
        settlement{config.procs, settlement_radix, rank_at(0), true},
        patience(pull_patience) {}

  typename D::Config dissemination;
  FtcoAllreduceConfig settlement;
  Duration patience;  // of an uncolored process, since it may be missed, before its pull
};

template <Dissemination D>
class ReliableBroadcastOf {
 public:
  using Config = ReliableBroadcastConfigOf<D>;

  // REQUIRES: `config` outlives the machine; 0 <= self < procs; the dissemination needs no common
  // clock: without one it may leave processes uncolored though nobody died.
  ReliableBroadcastOf(const Config& config, Rank self);

  void start(const Context& context);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context& context);
  void handle_suspicion(const Context& context, Rank rank);

  // colored, then deliver; adopt, restart, deliver, fail from the settlement.
  std::optional<Event> poll_event(const Context& context);

  // tree, correction, pull, supply, contribution, result. The last two have slot none if the sender
  // knows of no payload. A correction may be sent without its payload.
  std::optional<Message> poll_send(const Context& context);

  Deadline poll_timeout(const Context& context) const;

  // The next process whose message this one waits for, as FtcoAllreduce::next_due. From place 0 on,
  // no_rank: no more.
  Rank next_due(const Context& context, std::int32_t& place) const;

 private:
  enum class Patience : std::uint8_t { unlimited, running, over };

  Rank root() const { return config_->dissemination.root; }
  bool is_root() const { return self_ == root(); }
  bool has_payload() const { return dissemination_.is_colored() || is_settled_with_payload_; }
  Slot own_slot() const { return is_root() ? Slot::input : Slot::result; }
  Slot own_slot_or_none() const { return has_payload() ? own_slot() : Slot::none; }
  Message message_to(Rank rank, MessageKind kind, Slot slot) const;

  void lose_patience_if_missed(const Context& context);
  void handle_offer(const Context& context, const Message& message);
  std::optional<Message> next_pull(const Context& context);
  void become_settling(const Context& context);
  std::optional<Event> next_settlement_event(const Context& context);
  bool maybe_take(const Message& subject);
  Event end_settlement(const Event& decision);
  std::optional<Message> next_supply(const Context& context);

  D dissemination_;
  FtcoAllreduce settlement_;
  const Config* config_;
  Time patience_end_ = never;
  Rank self_;
  Rank offerer_ = no_rank;      // the first who offered the payload and is not suspected
  Rank asked_ = no_rank;        // who was asked for the payload and is not suspected
  std::uint32_t answered_ = 0;  // how many of the kept pulls
  Patience patience_ = Patience::unlimited;
  Slot source_ = Slot::none;  // where the payload that the settlement speaks of is
  bool is_settling_ = false;
  bool has_ended_ = false;
  bool is_settled_with_payload_ = false;
  [[maybe_unused]] std::uint8_t padding_[3] = {};  // no bytes of chance: states are compared
};

using ReliableBroadcast = ReliableBroadcastOf<CorrectedTree>;
using ReliableBroadcastConfig = ReliableBroadcast::Config;
using ReliableGossip = ReliableBroadcastOf<CorrectedGossip>;
using ReliableGossipConfig = ReliableGossip::Config;

static_assert(Machine<ReliableBroadcast> && Machine<ReliableGossip>);
static_assert(std::has_unique_object_representations_v<ReliableBroadcast>);
static_assert(std::has_unique_object_representations_v<ReliableGossip>);

}  // namespace resprout::protocols
