// Fault-tolerant allreduce: FTCO (sections 3 and 4), with rounds added so that the root may die.
//
// Contributions go up a k-nomial tree of ranges, the decision comes down. Round c runs on the tree
// over [c, procs); c is its coordinator. A process is in the round of the lowest rank that it does
// not suspect, or in a higher one whose result it has accepted.
// docs/explanation/protocols/ftco_allreduce.md says why the survivors agree.
//
// Barrier is the same machine with a driver that has no payload. With `result_everywhere` false it
// is a reduce: there is one round, only the root has a result, and if the root is suspected
// everybody else is done at once.
//
// Invariants
//  1. The round never decreases; a result of a lower round is ignored for ever.
//  2. The cursor never goes back within a round: each rank is combined, or excluded, or neither
//     (behind a decision), and that once, in ascending order.
//  3. A contribution does not change once it was sent; the same one is sent again to the next
//     ancestor when the one before is suspected.
//  4. `deliver` is said once. What this process reports later is what it delivered, and the round
//     of that, never a mixture.
//  5. In a round's result everybody forwards the same bytes, also who had delivered before.
//
// With several roots, round 0 is theirs together: each sends its partial result to all others and
// folds them all. A process that suspects a root goes on to round 1 + c, coordinator c, as above;
// what round 0 decides, if it decides, is one value, because a partial result does not change (3).
// They may do so by recursive doubling: in step i each exchanges what it has with the root whose
// number differs in bit i. What it sends in a step is a fold of partial results, and always the
// same one; so the value is one, too.
//
// A broadcast is an allreduce whose round 0 waits for nobody. In later rounds who has the payload
// contributes it as a decision; if nobody has, it fails everywhere.
//
// Ranks: the config's root is virtual rank 0, the others follow it cyclically.
// Limit: a coordinator needs a virtual rank below 65535 for its decision to be taken over.
// Thread rule: none, a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "topology/range_forest.hpp"
#include "topology/root_exchange.hpp"

namespace resprout::protocols {

struct FtcoAllreduceConfig {
  std::int32_t procs;
  std::int32_t radix;  // >= 2
  Rank root;           // of a reduce; an allreduce folds in rank order only if it is rank 0
  bool result_everywhere;
  topology::RangeShape shape = topology::RangeShape::ranges;
  // <= procs. Several roots each fold in an order of their own: for operators that do not mind.
  // REQUIRES of them: result_everywhere, no broadcast.
  std::int32_t roots = 1;
  bool is_broadcast = false;  // of the root's input; REQUIRES: result_everywhere
  // Of the forest of round 0, if they are looked up: for drivers of many machines.
  const topology::RangeRelatives* relatives = nullptr;
  // Round r is `first_round + r * round_step` in messages and events: operations that share a
  // mailbox are told apart by it.
  std::uint32_t first_round = 0;
  std::uint32_t round_step = 1;
  // Whether several roots exchange by recursive doubling. REQUIRES: they are a power of two. In
  // later rounds there is one root, and no trace of the others.
  bool is_doubling = false;
};

class FtcoAllreduce {
 public:
  // REQUIRES: `config` outlives the machine; 0 <= self < config.procs.
  FtcoAllreduce(const FtcoAllreduceConfig& config, Rank self);

  void start(const Context& context);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context& context, Rank rank);

  // combine, adopt, exclude, restart, deliver, fail. A second call in a row changes nothing.
  std::optional<Event> poll_event(const Context& context);

  // `contribution` (tag: 1 + the round of the decision that it carries, 0 if it is a partial
  // result) and `result`.
  //   slot input        the input; nobody is excluded from it
  //   slot accumulator  the accumulator with its exclusions
  //   slot result       what this process delivered, with its exclusions
  //   slot none         the answer of a reduce to all but the root
  std::optional<Message> poll_send(const Context& context);

  // Failures come as suspicions: there is nothing to wait for. But what has come may have to be
  // folded after a send.
  Deadline poll_timeout(const Context& context) const;

  bool has_delivered() const { return decided_ != 0; }

  // --- for those who detect failures by what this machine waits for
  // -------------------------------

  // Nothing is left to be done, unless somebody else needs it.
  bool is_done() const;
  // Whether contributions from below are waited for, not what comes after them.
  bool is_collecting() const { return phase_ == Phase::collecting && cursor_ < end_; }
  // Whether this round's result is here, and being told.
  bool is_announcing() const { return phase_ == Phase::announcing; }
  // The next process behind `place` whose message is waited for; `place` then says which it was.
  // From place 0 on, no_rank: no more.
  Rank next_due(const Context& context, std::int32_t& place) const;
  std::int32_t round() const { return round_; }
  // The coordinator of a round; -1: the roots together.
  std::int32_t coordinator(std::int32_t round) const {
    return round - (config_->roots > 1 ? 1 : 0);
  }
  topology::RangeForest forest(std::int32_t round) const;
  // Others are in `round` already: goes there, too. REQUIRES: no event is pending.
  void join(std::int32_t round);

  std::int32_t self() const { return self_; }
  Rank rank_of(std::int32_t virtual_rank) const;
  std::int32_t virtual_rank_of(Rank rank) const;

 private:
  enum class Phase : std::uint8_t {
    collecting,  // of this round: the cursor walks over the contributions of the own range
    exchanging,  // one of several roots: sends its partial result, and folds those of the others
    announcing,  // the result of this round is here: the cursor walks over those to be told
    closed,      // a reduce whose root is suspected
  };

  topology::RangeForest tree() const;
  std::uint32_t told(std::int32_t round) const {
    return config_->first_round + static_cast<std::uint32_t>(round) * config_->round_step;
  }
  std::int32_t round_of(const Message& message) const {
    return static_cast<std::int32_t>((message.round - config_->first_round) / config_->round_step);
  }
  bool is_suspected(const Context& context, std::int32_t virtual_rank) const;
  bool is_coordinator() const { return self_ == coordinator(round_); }
  bool is_joint() const { return coordinator(round_) < 0; }
  // In the round 0 of a broadcast nobody contributes.
  bool is_broadcasting() const { return config_->is_broadcast && round_ == 0; }
  std::int32_t lowest_unsuspected(const Context& context) const;
  std::int32_t lowest_round(const Context& context) const;
  std::int32_t nearest_ancestor(const Context& context) const;

  void enter_round(std::int32_t round);
  void become_announcing();
  void accept_result(const Message& message);
  void reach_behind(const Context& context, std::int32_t suspect);
  std::optional<Event> poll_partial(const Context& context);
  topology::RootExchange exchange() const;
  void decide();
  void raise_end(const Message& subject);
  Message message_to(std::int32_t virtual_rank, MessageKind kind, Slot slot) const;
  void raise(EventKind kind, const Message& subject);

  const FtcoAllreduceConfig* config_;
  Message subject_{};  // of the pending event
  std::int32_t self_;  // virtual ranks from here on
  std::int32_t round_ = 0;
  std::int32_t cursor_ = 0;
  std::int32_t end_ = 0;  // of what the cursor walks over
  // Who was sent this round's contribution, -1: nobody yet. Exchanging: how many other roots were.
  std::int32_t parent_ = -1;
  std::uint16_t decided_ = 0;   // 1 + the round whose result was delivered, 0: none yet
  std::uint16_t decision_ = 0;  // 1 + the round of the decision in `slot_`, 0: a partial result
  Slot slot_ = Slot::input;     // where this round's contribution, later its result, is
  Phase phase_ = Phase::collecting;
  EventKind pending_ = EventKind::deliver;
  bool has_pending_ = false;
  std::uint32_t has_failed_ = 0;  // what was decided is that a broadcast fails
  std::int32_t joined_ = 0;       // exchanging: how many other roots' partial results were folded
  [[maybe_unused]] std::uint32_t padding_ = 0;  // no bytes of chance: states are compared bytewise
};

static_assert(Machine<FtcoAllreduce>);
static_assert(sizeof(FtcoAllreduce) <= 64);
static_assert(std::has_unique_object_representations_v<FtcoAllreduce>);

}  // namespace resprout::protocols
