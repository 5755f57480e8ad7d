// See agreement.hpp.
#include "sim/checkers/agreement.hpp"

#include <algorithm>

#include "protocols/agreement/opinion.hpp"

namespace resprout::sim {
namespace {

using Bytes = std::vector<std::byte>;

bool has(std::uint64_t mask, std::size_t position) { return (mask >> position & 1) != 0; }

Bytes bytes_of(const Given& given, std::size_t procs) {
  Bytes bytes(protocols::opinion_bytes(static_cast<std::int32_t>(procs)));
  protocols::write_opinion(bytes, given.flag, given.acknowledged);
  return bytes;
}

bool is_failure(const Payload& result, std::size_t procs, const Bytes& opinion) {
  return protocols::has_unknown_failure(
      opinion, static_cast<std::int32_t>(procs),
      [&](std::int32_t rank) { return has(result.excluded, static_cast<std::size_t>(rank)); });
}

Bytes agreed_by(std::uint64_t contributors, std::span<const Given> given) {
  Bytes agreed;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!has(contributors, i)) continue;
    Bytes upper = bytes_of(given[i], given.size());
    if (!agreed.empty()) protocols::agree_on(agreed, upper);
    agreed = std::move(upper);
  }
  return agreed;
}

// The same by the words of the promise.
Got expected(const Payload& result, std::span<const Given> given) {
  Got got{~0, false};
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!has(result.contributors, i)) continue;
    got.flag &= given[i].flag;
    const auto& known = given[i].acknowledged;
    for (std::size_t lost = 0; lost < given.size(); ++lost)
      if (has(result.excluded, lost) &&
          std::find(known.begin(), known.end(), static_cast<std::int32_t>(lost)) == known.end())
        got.is_failure = true;
  }
  return got;
}

std::string describe(const Got& got) {
  return std::to_string(got.flag) + (got.is_failure ? " and a failure" : " and no failure");
}

}  // namespace

Got read_agreed(const Payload& result, std::span<const Given> given, std::size_t) {
  const Bytes agreed = agreed_by(result.contributors, given);
  return {protocols::flag_of(agreed), is_failure(result, given.size(), agreed)};
}

Got read_selfishly(const Payload& result, std::span<const Given> given, std::size_t self) {
  const Bytes own = bytes_of(given[self], given.size());
  return {read_agreed(result, given, self).flag, is_failure(result, given.size(), own)};
}

std::vector<Given> various_opinions(int procs) {
  std::vector<Given> given(static_cast<std::size_t>(procs));
  for (int i = 0; i < procs; ++i) {
    Given& one = given[static_cast<std::size_t>(i)];
    one.flag = ~(1 << i % 31);
    for (int rank = 0; rank < procs; ++rank)
      if (rank != (i + 1) % procs) one.acknowledged.push_back(rank);
  }
  return given;
}

Verdict check_agreement(std::span<const Outcome> outcomes, std::span<const Given> given,
                        Reading read) {
  if (Verdict verdict = check_allreduce(outcomes)) return verdict;
  const auto survivor = std::find_if(outcomes.begin(), outcomes.end(),
                                     [](const Outcome& outcome) { return outcome.is_survivor; });
  if (survivor == outcomes.end()) return std::nullopt;
  const Got due = expected(survivor->result, given);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].delivered == 0) continue;
    const Got got = read(outcomes[i].result, given, i);
    if (got != due)
      return "process " + std::to_string(i) + " got " + describe(got) + ", and due was " +
             describe(due);
  }
  return std::nullopt;
}

}  // namespace resprout::sim
