// See digest_vote_case.hpp.
#include "sim/exhaustive/digest_vote_case.hpp"

#include <optional>

#include "sim/digest_vote/world.hpp"
#include "sim/exhaustive/examine.hpp"

namespace resprout::sim {
namespace {

std::optional<DigestVoteDefect> digest_vote_defect_of(const std::string& word) {
  if (word.empty()) return DigestVoteDefect::none;
  if (word == "origins") return DigestVoteDefect::origins;
  if (word == "shares") return DigestVoteDefect::shares;
  if (word == "suspicions") return DigestVoteDefect::suspicions;
  return std::nullopt;
}

// With all processes in it, if nobody enters late. `corrupted`: this sender's copy is, from the
// start; -1: nothing is.
DigestVoteWorld start_of(const Case& given, const protocols::DigestVoteConfig& config,
                         int corrupted) {
  const DigestVoteScene scene{.may_corrupt = given.corrupts,
                              .defect = *digest_vote_defect_of(given.defect)};
  DigestVoteWorld world(config, scene);
  const auto rank_of = [](int rank) { return static_cast<std::uint8_t>(rank); };
  if (corrupted >= 0) world.apply({ActionKind::corrupt, rank_of(corrupted), rank_of(corrupted)});
  if (!given.enters_late)
    for (int rank = 0; rank < world.procs(); ++rank)
      world.apply({ActionKind::enter, rank_of(rank)});
  return world;
}

}  // namespace

std::string refuse_digest_vote(const Case& given, const registry::Spec& spec) {
  if (given.procs != 2 * spec.degree)
    return "--procs is " + std::to_string(2 * spec.degree) + " for a message between ranks of " +
           std::to_string(spec.degree) + " replicas";
  if (spec.is_corrupted) return "--spec: corruption=none; --corruption explores all of them";
  if (given.root != 0) return "--root is 0 for a digest-vote: it has none";
  if (given.dead > 0) return "--dead is for protocols without a detector; use --crashes";
  if (given.offers) return "--offers is for reliable broadcasts";
  if (!digest_vote_defect_of(given.defect))
    return "--defect is origins, shares or suspicions for a digest-vote";
  return "";
}

Finding explore_digest_vote(const Case& given, const registry::Spec& spec) {
  const protocols::DigestVoteConfig config{spec.vote_method, spec.degree, spec.unproven};
  const auto check = [](std::span<const DigestVoteOutcome> outcomes) {
    return check_digest_vote(outcomes);
  };
  // Who may still enter may still have its copy corrupted; else that is where it begins.
  const int last = given.corrupts && !given.enters_late ? spec.degree - 1 : -1;
  Finding finding;
  for (int corrupted = -1; corrupted <= last; ++corrupted) {
    const DigestVoteWorld start = start_of(given, config, corrupted);
    if (!examine(start, given, given.limits, check, finding)) break;
  }
  return finding;
}

}  // namespace resprout::sim
