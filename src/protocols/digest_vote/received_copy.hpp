// A message at one of the receiver's replicas: which copy the program gets, when, and what the
// other copies say of it.
//
// Lazy Fault Detection for Redundant MPI, Figures 4.1 and 4.3. Beyond the paper, which stops at
// "initiate correction" and knows no crashes: a receiver that has not heard two origins agree,
// because one is dead or two differ, asks the others what they know. One that lacks the bytes asks
// for them.
// docs/explanation/protocols/digest_vote.md says what follows.
//
// Invariants
//  1. A verdict is that two origins agree. It is reached once and never revised.
//  2. An eager method delivers only what the verdict is of, or, when nobody else is left to hear
//     of, the only copy. A lazy one delivers a copy that nothing contradicts: the first, or the
//     first of its own number, unless that sender is suspected.
//  3. Nothing is over before every share has come, or its sender is suspected.
//  4. `taint` is said of every delivered copy that the verdict is not of, and a `repair` or `lost`
//     follows.
//  5. Who is suspected is heard no more. Who is over hears nobody; it only answers.
//  6. A sibling is answered when the shares are in or given up: that waits for no sibling.
//     Nobody is asked twice for the same.
// Thread rule: a value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/protocol.hpp"
#include "protocols/digest_vote/method.hpp"
#include "protocols/digest_vote/opinions.hpp"

namespace resprout::protocols {

class ReceivedCopy {
 public:
  // REQUIRES: `config` outlives the machine; self is a receiver of it.
  ReceivedCopy(const DigestVoteConfig& config, Rank self);

  void start(const Context& context);
  // `keep`: the bytes of this copy may be delivered, repair, or be given to a sibling later. The
  // driver keeps them under the copy's origin as long as the machine.
  Disposition handle_message(const Context& context, const VoteMessage& message);
  void handle_suspicion(const Context& context);
  std::optional<VoteEvent> poll_event();
  std::optional<VoteMessage> poll_send(const Context& context);

  // Why it is not over yet.
  const char* waits_for(const Context& context) const;
  bool is_over() const { return end_ != End::open; }
  // It was sent: something of it has come.
  bool has_heard() const { return opinions_.heard() != 0; }
  // It waits for what this replica of the sender owes it.
  bool awaits_share_of(const Context& context, std::int32_t sender) const;
  // The digest that two origins agree on; nothing: not known, or there is none.
  std::optional<std::uint64_t> verdict() const {
    return has_verdict_ != 0 ? std::optional(verdict_) : std::nullopt;
  }

 private:
  enum class End : std::uint8_t { open, finished, undecided, lost };
  enum class Said : std::uint8_t { deliver, mismatch, taint, repair, confirm, end };

  bool is_suspected(const Context& context, Rank rank) const {
    return context.suspects.contains(rank);
  }
  bool has_share(std::int32_t sender) const { return (shares_in_ >> sender & 1) != 0; }
  bool may_still_come(const Context& context, std::int32_t sender, bool wants_data) const;
  bool are_shares_settled(const Context& context) const;
  // Bit i: the bytes of origin i are here and are what they have to be.
  std::uint32_t usable() const;
  std::int32_t preferred(std::uint32_t origins) const;

  bool take_copy(const VoteMessage& message);
  void note_answer(Rank from) {
    if (asking_ == from) asking_ = no_rank;
  }

  void advance(const Context& context);
  void go_on_with_verdict(const Context& context);
  void go_on_without_verdict(const Context& context);
  void deliver_if_allowed(const Context& context);
  bool has_to_wait_for_own(const Context& context) const;
  bool maybe_inquire(const Context& context);
  bool maybe_pull(const Context& context, std::uint32_t origins);
  void ask(Rank whom, VoteKind kind, std::uint32_t origins);

  bool maybe_say(Said what) {
    const std::uint32_t bit = 1U << static_cast<int>(what);
    if ((said_ & bit) != 0) return false;
    said_ |= bit;
    return true;
  }
  Rank origin_rank(std::int32_t origin) const { return config_->sender(origin); }
  VoteEvent end_event() const;
  VoteMessage message_to(Rank to, VoteKind kind) const;
  std::optional<VoteMessage> poll_answer(const Context& context);

  const DigestVoteConfig* config_;
  Opinions opinions_;
  std::uint64_t verdict_ = 0;    // the digest that two origins agree on
  std::int32_t self_;            // its number among the replicas
  std::int32_t delivered_ = -1;  // origins; -1: none
  std::int32_t repaired_ = -1;
  Rank asking_ = no_rank;                           // whose answer is due
  std::uint32_t asked_origins_ = 0;                 // whose copies will do
  std::uint32_t shares_in_ = 0;                     // bit i: of sender i
  std::uint32_t held_ = 0;                          // bit i: the bytes of origin i are here
  std::uint32_t inquired_ = 0;                      // bit of a rank: it was asked what it knows
  std::uint32_t pulled_ = 0;                        // likewise: for a copy
  std::uint32_t curious_ = 0;                       // bit j: sibling j waits for opinions
  std::uint32_t needy_ = 0;                         // bit j: sibling j waits for a copy
  std::array<std::uint32_t, degree_max> wanted_{};  // by sibling: of one of these origins
  std::uint32_t outvoted_ = 0;                      // bit i: has been said of origin i
  std::uint32_t said_ = 0;
  std::uint8_t has_verdict_ = 0;
  std::uint8_t must_ask_ = 0;      // the message to `asking_` has not been sent
  std::uint8_t is_inquiring_ = 0;  // it is an inquiry; else a pull
  End end_ = End::open;
  [[maybe_unused]] std::uint32_t padding_ = 0;  // no bytes of chance: states are compared
};

}  // namespace resprout::protocols
