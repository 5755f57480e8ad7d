// One message from a replicated rank to another: who sends what, what the program gets, and whether
// it was right.
//
// Lazy Fault Detection for Redundant MPI, chapters 3 and 4: the methods AllToAll and MsgPlusHash of
// RedMPI, Async and AsyncHash of the paper, at degree 2 and 3. This is the machine of one of the
// 2 degree processes: of a replica of the sender, or of one of the receiver. It sees digests, never
// bytes, and it is a machine as core/protocol.hpp describes them with words of its own.
//
// Failures come as suspicions; nothing is waited for by the clock. What is promised, and why it
// holds, is in docs/explanation/protocols/digest_vote.md.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "protocols/digest_vote/received_copy.hpp"
#include "protocols/digest_vote/sent_copy.hpp"

namespace resprout::protocols {

class DigestVote {
 public:
  using Config = DigestVoteConfig;
  using Message = VoteMessage;
  using Event = VoteEvent;

  // `digest`: of a sender's own copy; of a receiver it means nothing.
  // REQUIRES: `config` outlives the machine; 0 <= self < config.procs().
  DigestVote(const Config& config, Rank self, std::uint64_t digest);

  void start(const Context& context);
  // `keep`: see ReceivedCopy.
  Disposition handle_message(const Context& context, const VoteMessage& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context& context, Rank rank);
  std::optional<VoteEvent> poll_event(const Context& context);
  std::optional<VoteMessage> poll_send(const Context& context);
  Deadline poll_timeout(const Context& context) const;

  bool is_sender() const { return is_sender_ != 0; }
  // Of a receiver: it has said how it ended, and only answers from now on.
  bool is_over() const { return is_sender() || received_.is_over(); }

 private:
  SentCopy sent_;
  ReceivedCopy received_;
  std::uint64_t is_sender_;
};

static_assert(MachineOf<DigestVote, VoteMessage, VoteEvent>);
static_assert(std::has_unique_object_representations_v<DigestVote>);

}  // namespace resprout::protocols
