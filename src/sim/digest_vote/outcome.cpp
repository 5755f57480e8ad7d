// See outcome.hpp.
#include "sim/digest_vote/outcome.hpp"

namespace resprout::sim {
namespace {

// What is to be known of the senders.
struct Senders {
  explicit Senders(std::span<const DigestVoteOutcome> outcomes) {
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].is_survivor) alive |= 1U << i;
      if (outcomes[i].is_corrupted) corrupted |= 1U << i;
    }
  }
  std::uint32_t alive = 0;
  std::uint32_t corrupted = 0;
};

std::optional<std::string> check_end(const DigestVoteOutcome& receiver, const Senders& senders,
                                     bool has_crashes, int degree) {
  switch (receiver.end) {
    case VoteEnd::open:
      return "never ended";
    case VoteEnd::undecided:
      if (senders.corrupted == 0) return "cannot decide though nothing was corrupted";
      if (!has_crashes && degree > 2) return "cannot decide though two copies are right";
      break;
    case VoteEnd::lost:
      if (senders.alive != 0 && senders.corrupted == 0) return "lost data that a sender still has";
      if (!has_crashes) return "lost data though nobody died";
      break;
    case VoteEnd::finished:
      if (receiver.origin < 0) return "finished without data";
      if (receiver.agreeing >= 2 && !receiver.is_right) return "is sure of a corrupted copy";
      if (receiver.agreeing >= 2 && !receiver.is_confirmed) return "was not told that it is sure";
      if (receiver.agreeing < 2 && (senders.alive & ~(1U << receiver.origin)) != 0)
        return "finished unverified though another sender lives";
      break;
  }
  return std::nullopt;
}

std::optional<std::string> check_words(const DigestVoteOutcome& receiver, const Senders& senders) {
  if (receiver.saw_mismatch && senders.corrupted == 0) return "saw a mismatch where there is none";
  if ((receiver.outvoted & ~senders.corrupted) != 0) return "accused a copy that is right";
  if (receiver.is_tainted && !receiver.was_wrong) return "calls tainted what is right";
  const bool could_compare = receiver.end == VoteEnd::undecided || receiver.agreeing >= 2;
  if (receiver.heard_corruption && could_compare && !receiver.saw_mismatch)
    return "did not notice a corruption";
  if (receiver.was_wrong && receiver.agreeing >= 2 && !receiver.is_tainted)
    return "was not told that it is tainted";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_digest_vote(std::span<const DigestVoteOutcome> outcomes) {
  const std::size_t degree = outcomes.size() / 2;
  const Senders senders(outcomes.first(degree));
  bool has_crashes = false;
  for (const DigestVoteOutcome& outcome : outcomes) has_crashes |= !outcome.is_survivor;
  for (std::size_t j = degree; j < outcomes.size(); ++j) {
    const DigestVoteOutcome& receiver = outcomes[j];
    if (!receiver.is_survivor) continue;
    auto wrong = check_end(receiver, senders, has_crashes, static_cast<int>(degree));
    if (!wrong) wrong = check_words(receiver, senders);
    if (wrong) return "receiver " + std::to_string(j - degree) + " " + *wrong;
  }
  return std::nullopt;
}

}  // namespace resprout::sim
