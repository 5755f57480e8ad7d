#include "protocols/digest_vote/sent_copy.hpp"

namespace resprout::protocols {

SentCopy::SentCopy(const DigestVoteConfig& config, Rank self, std::uint64_t digest)
    : config_(&config), digest_(digest), self_(config.replica(self)) {}

void SentCopy::start() { unsent_ = config_->degree; }

void SentCopy::handle_message(const VoteMessage& message) {
  const std::uint32_t receiver = 1U << config_->replica(message.from);
  if (message.kind == VoteKind::pull) needy_ |= receiver;
  if (message.kind == VoteKind::inquiry) curious_ |= receiver;
}

std::optional<VoteMessage> SentCopy::poll_send(const Context& context) {
  while (unsent_ > 0) {
    const std::int32_t receiver = (self_ + config_->degree - unsent_) % config_->degree;
    --unsent_;
    const Share share = config_->share(self_, receiver);
    if (share == Share::none || context.suspects.contains(config_->receiver(receiver))) continue;
    return message_to(receiver, share == Share::data ? VoteKind::data : VoteKind::digest);
  }
  for (std::int32_t receiver = 0; receiver < config_->degree; ++receiver) {
    const std::uint32_t bit = 1U << receiver;
    const bool is_suspected = context.suspects.contains(config_->receiver(receiver));
    for (std::uint32_t* asked : {&needy_, &curious_}) {
      if ((*asked & bit) == 0) continue;
      *asked &= ~bit;
      if (is_suspected) continue;
      return message_to(receiver, asked == &needy_ ? VoteKind::data : VoteKind::opinions);
    }
  }
  return std::nullopt;
}

VoteMessage SentCopy::message_to(std::int32_t receiver, VoteKind kind) const {
  VoteMessage message{.from = config_->sender(self_), .to = config_->receiver(receiver)};
  message.kind = kind;
  message.origins = 1U << self_;
  message.digests[static_cast<std::size_t>(self_)] = digest_;
  return message;
}

}  // namespace resprout::protocols
