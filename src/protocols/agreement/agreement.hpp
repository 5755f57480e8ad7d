// Uniform agreement: an allreduce whose result nobody returns before all who live can give it to
// others. docs/explanation/protocols/agreement.md says why even those who die afterwards have
// returned the same.
//
// It goes over the trees and rounds of ftco_allreduce: round c is over [c, procs), its coordinator
// is c, and a process is in the round of the lowest rank that it does not suspect, or in a higher
// one whose word it has taken. A round has two parts, up and down the tree each:
//   vote          contributions are combined; what comes out is proposed to all
//   confirmation  who has the proposal says so; when all below have it, too, it is decided, and all
//                 are told
//
// Invariants
//  1. The round never decreases; the word of a lower round is ignored for ever.
//  2. The cursor never goes back within a part: each rank is counted once or passed over because it
//     is suspected, in ascending order.
//  3. Of each round there is one proposal at most. What is in the accumulator is a partial
//     result, or a proposal together with the round that it was made in: the latest that this
//     process has seen. It takes part in later rounds with that, never with its input again.
//  4. Nobody confirms a proposal of a round but in that round.
//  5. `deliver` is said once.
//
// Vote and confirmation share a mailbox: round r is 2r in messages of the one and 2r + 1 in those
// of the other. Limit: a coordinator needs a rank below 65535 for its proposal to be taken over.
// Thread rule: none, a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "topology/range_tree.hpp"

namespace resprout::protocols {

struct AgreementConfig {
  std::int32_t procs;
  std::int32_t radix;  // >= 2
};

class Agreement {
 public:
  using Config = AgreementConfig;

  // REQUIRES: `config` outlives the machine; 0 <= self < config.procs.
  Agreement(const Config& config, Rank self);

  void start(const Context& context);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context& context, Rank rank);

  // combine, adopt, exclude, restart, deliver: of the own accumulator, always.
  std::optional<Event> poll_event(const Context& context);

  // `contribution` of a vote (tag: 1 + the round of the proposal that it carries, 0 if it is a
  // partial result) with the input or the accumulator, of a confirmation without a payload;
  // `result` of a vote (the proposal) and of a confirmation (the decision), both with the
  // accumulator.
  std::optional<Message> poll_send(const Context& context);

  // Failures come as suspicions: there is nothing to wait for.
  Deadline poll_timeout(const Context&) const { return {}; }

  // The next process behind `place` whose message is waited for; `place` then says which it was.
  // From place 0 on, no_rank: no more.
  Rank next_due(const Context& context, std::int32_t& place) const;

 private:
  enum class Stage : std::uint8_t {
    voting,      // the cursor walks over the contributions of the own range
    confirming,  // the proposal is here, and being told; the cursor walks over the confirmations
    decided,     // it is decided, and being told
  };

  topology::RangeTree tree() const { return {round_, config_->procs, config_->radix}; }
  bool is_coordinator() const { return self_ == round_; }
  bool is_collecting() const { return stage_ != Stage::decided && cursor_ < end_; }
  // Of this round's messages now.
  std::uint32_t told(Stage stage) const {
    return 2 * static_cast<std::uint32_t>(round_) + (stage == Stage::voting ? 0 : 1);
  }
  std::int32_t lowest_unsuspected(const Context& context) const;
  std::int32_t nearest_ancestor(const Context& context) const;
  Message message_to(std::int32_t rank, MessageKind kind, std::uint32_t round, Slot slot) const;

  void enter_round(std::int32_t round);
  void become(Stage stage);
  Disposition handle_contribution(std::int32_t round, Stage needed_in, std::int32_t from) const;
  std::optional<Event> next_of_vote(const Context& context);
  void count_confirmations(const Context& context);
  std::optional<Message> next_to_tell(const Context& context);
  void reach_behind(const Context& context, std::int32_t suspect);
  void raise(EventKind kind, const Message& subject);

  const Config* config_;
  Message subject_{};  // of the pending event
  std::int32_t self_;
  std::int32_t round_ = 0;
  std::int32_t cursor_ = 0;    // over those who are to be counted
  std::int32_t tell_ = 0;      // over those who are to be told
  std::int32_t tell_end_ = 0;  // of these
  std::int32_t end_ = 0;       // of the own range
  std::int32_t parent_ = -1;   // who was sent this part's contribution, -1: nobody yet
  std::uint16_t proposal_ =
      0;                     // 1 + the round of the proposal in the accumulator, 0: there is none
  Slot slot_ = Slot::input;  // where this round's contribution is
  Stage stage_ = Stage::voting;
  EventKind pending_ = EventKind::adopt;
  bool has_pending_ = false;
  bool has_delivered_ = false;
  [[maybe_unused]] std::uint8_t padding_ = 0;  // no bytes of chance: states are compared bytewise
  [[maybe_unused]] std::uint32_t more_padding_ = 0;
};

static_assert(Machine<Agreement>);
static_assert(sizeof(Agreement) <= 64);
static_assert(std::has_unique_object_representations_v<Agreement>);

}  // namespace resprout::protocols
