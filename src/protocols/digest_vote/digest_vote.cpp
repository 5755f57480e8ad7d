#include "protocols/digest_vote/digest_vote.hpp"

namespace resprout::protocols {

DigestVote::DigestVote(const Config& config, Rank self, std::uint64_t digest)
    : sent_(config, self, digest),
      received_(config, self),
      is_sender_(config.is_sender(self) ? 1 : 0) {}

void DigestVote::start(const Context& context) {
  if (is_sender())
    sent_.start();
  else
    received_.start(context);
}

Disposition DigestVote::handle_message(const Context& context, const VoteMessage& message) {
  if (!is_sender()) return received_.handle_message(context, message);
  sent_.handle_message(message);
  return Disposition::done;
}

void DigestVote::handle_suspicion(const Context& context, Rank) {
  if (!is_sender()) received_.handle_suspicion(context);
}

std::optional<VoteEvent> DigestVote::poll_event(const Context&) {
  return is_sender() ? std::nullopt : received_.poll_event();
}

std::optional<VoteMessage> DigestVote::poll_send(const Context& context) {
  return is_sender() ? sent_.poll_send(context) : received_.poll_send(context);
}

Deadline DigestVote::poll_timeout(const Context& context) const {
  return {never, is_sender() ? "nothing" : received_.waits_for(context)};
}

}  // namespace resprout::protocols
