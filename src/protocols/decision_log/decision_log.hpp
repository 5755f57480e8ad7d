// What may differ between the replicas of a rank is decided by one of them and followed by the
// others, in the same order: this is the machine of one replica.
//
// Lazy Fault Detection for Redundant MPI, chapter 7: RedMPI shares one replica's result of wildcard
// receives, MPI_Test, MPI_Iprobe and MPI_Wtime with the others. How, and what happens when that one
// dies, it does not say; this is ours. The lowest replica that is not suspected leads. A round is
// its leader, as in ftco_allreduce, so rounds only grow; entering one is the promise to take
// nothing from lower ones. docs/explanation/protocols/decision_log.md says why it holds.
//
// Invariants
//  1. The log only grows. Nobody takes decisions of a leader lower than the one it has promised.
//  2. A new leader has what all those know that it does not suspect, before it decides.
//  3. Settled is what everybody has who is not suspected: what anybody has settled, whether it
//     lives or not, is in the log of all who are never suspected.
//  4. Nobody who is never suspected holds more than `window` decisions, and the announcements.
//  5. What is released is needed by nobody.
//  6. Who hears that others follow somebody above it has been given up: it settles and decides
//     nothing any more.
//  7. Announcements are entries of the same log that belong to no place in the program. The window
//     does not count them against who announces, so that they wait for nobody.
// Thread rule: a value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "protocols/decision_log/message.hpp"

namespace resprout::protocols {

class DecisionLog {
 public:
  using Config = DecisionLogConfig;
  using Message = DecisionMessage;
  using Event = DecisionEvent;

  // REQUIRES: 0 <= self < config.degree <= 3, config.window > 0. `config` is copied.
  DecisionLog(const DecisionLogConfig& config, Rank self);

  void start(const Context& context);
  // What `message` says to have with it has to be there.
  Disposition handle_message(const Context& context, const DecisionMessage& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context& context, Rank rank);
  std::optional<DecisionEvent> poll_event(const Context&);
  std::optional<DecisionMessage> poll_send(const Context& context);
  Deadline poll_timeout(const Context& context) const;

  // --- what the program does; after each of them drain as after handle_message

  bool is_leading() const { return is_leading_ != 0; }
  bool is_deposed() const { return is_deposed_ != 0; }
  // It leads, has followed all there is, and nobody is `window` behind. Can change with any call.
  bool may_decide(const Context& context) const;
  // The number of what the program decides now. REQUIRES: may_decide, but that announcements may
  // have taken the room meanwhile.
  std::uint64_t decide(const Context& context);
  bool may_follow() const { return followed_ < length_; }
  // The number of what the program has to follow next. REQUIRES: may_follow. It is released at the
  // earliest by the events of this call.
  std::uint64_t follow(const Context& context);
  // Whether it may announce: it leads. It may have decisions to follow yet, and others may be as
  // far behind as they like.
  bool may_announce() const { return is_leading() && !is_deposed(); }
  // The number of what is announced now. The program follows it as all others do. REQUIRES:
  // may_announce.
  std::uint64_t announce(const Context& context);
  // So many of those that an event has said to be learned are announcements. Say so before the next
  // call.
  void note_announcements(std::uint64_t count) { announced_ += count; }
  // Whether others may see what came of the decisions that the program has made or followed.
  bool is_settled(const Context& context) const;
  // Whether others may see what came of the first `number` decisions.
  bool is_known_to_all(const Context& context, std::uint64_t number) const;
  // The program decides nothing any more. REQUIRES: it has followed all there is, is_settled.
  void finish(const Context& context);
  bool is_finished() const { return is_finished_ != 0; }

  // How many decisions it knows; how many of them the program has made or followed; how many are
  // held no more.
  std::uint64_t length() const { return length_; }
  std::uint64_t followed() const { return followed_; }
  std::uint64_t released() const { return released_; }
  // Whether `sibling` has said that its program has ended.
  bool has_ended(Rank sibling) const { return of(sibling).has_finished != 0; }
  // The replica whose decisions it follows.
  Rank leader() const { return rank_at(static_cast<std::int32_t>(round_)); }

 private:
  // What is known of another replica, and what it was told.
  struct Sibling {
    std::uint64_t has = 0;            // so many does it know, at least
    std::uint64_t released = 0;       // and so many of them does it hold no more
    std::uint64_t sent = 0;           // of a follower: all up to this one are on their way
    std::uint64_t told = 0;           // it was told that so many are known here
    std::uint64_t told_released = 0;  // and that so many are held no more
    std::uint64_t asked_from = 0;     // it wants what is behind this one
    std::uint8_t owes_answer = 0;
    std::uint8_t must_ask = 0;
    std::uint8_t must_answer = 0;
    std::uint8_t has_finished = 0;
    std::uint8_t is_told_farewell = 0;
    std::uint8_t must_depose = 0;           // it may believe that it leads, and is given up
    std::array<std::uint8_t, 2> padding{};  // no bytes of chance: states are compared
  };

  Sibling& of(Rank rank) { return siblings_[static_cast<std::size_t>(index(rank))]; }
  const Sibling& of(Rank rank) const { return siblings_[static_cast<std::size_t>(index(rank))]; }
  // Whether `rank` is another one that lives and has not ended.
  bool counts(const Context& context, std::int32_t rank) const;

  void take(const DecisionMessage& message);
  void promise(std::uint32_t round);
  // What follows from what has just been learned.
  void advance(const Context& context);
  bool has_to_lead(const Context& context) const;
  bool leads_from_here() const { return is_leading() && !is_deposed() && !may_follow(); }
  std::optional<DecisionMessage> next_for(std::int32_t rank);
  DecisionMessage message_to(std::int32_t rank, DecisionKind kind, std::uint64_t first,
                             std::uint64_t last);

  std::array<Sibling, replicas_max> siblings_{};  // by rank; the own one is not used
  std::uint64_t window_;
  std::uint64_t length_ = 0;
  std::uint64_t followed_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t learned_first_ = 1;  // of the message just handled; none: first > last
  std::uint64_t learned_last_ = 0;
  std::uint64_t said_released_ = 0;
  std::uint64_t announced_ = 0;  // of those that it knows
  std::int32_t degree_;
  std::int32_t self_;
  std::uint32_t round_ = 0;
  std::uint8_t is_candidate_ = 0;  // it asks those above it, or has
  std::uint8_t is_leading_ = 0;
  std::uint8_t said_lead_ = 0;
  std::uint8_t is_finished_ = 0;
  std::uint8_t is_deposed_ = 0;
  std::uint8_t said_depose_ = 0;
  [[maybe_unused]] std::array<std::uint8_t, 6> padding_{};  // no bytes of chance
};

static_assert(MachineOf<DecisionLog, DecisionMessage, DecisionEvent>);
static_assert(std::has_unique_object_representations_v<DecisionLog>);

}  // namespace resprout::protocols
