// A message at one of the sender's replicas: its shares go out, then copies to those who ask.
//
// The bytes stay as they were sent until no receiver can ask any more: the driver keeps them (the
// paper's Async copies every send buffer for the same reason, section 4.1).
//
// Invariants
//  1. Every receiver gets its share once, then its digest or a copy each time that it asks.
//  2. Nothing is sent to who is suspected.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>

#include "core/context.hpp"
#include "protocols/digest_vote/message.hpp"
#include "protocols/digest_vote/method.hpp"

namespace resprout::protocols {

class SentCopy {
 public:
  // `digest`: of the bytes in the send buffer.
  // REQUIRES: `config` outlives the machine; self is a sender of it.
  SentCopy(const DigestVoteConfig& config, Rank self, std::uint64_t digest);

  void start();
  void handle_message(const VoteMessage& message);
  std::optional<VoteMessage> poll_send(const Context& context);

  std::uint64_t digest() const { return digest_; }

 private:
  VoteMessage message_to(std::int32_t receiver, VoteKind kind) const;

  const DigestVoteConfig* config_;
  std::uint64_t digest_;
  std::int32_t self_;          // its number among the replicas
  std::int32_t unsent_ = 0;    // shares that are due; the receiver of the same number goes first
  std::uint32_t needy_ = 0;    // bit j: receiver j waits for a copy
  std::uint32_t curious_ = 0;  // bit j: it waits for the digest
};

}  // namespace resprout::protocols
