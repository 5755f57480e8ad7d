#include "runtime/replicas/decision_frame.hpp"

#include <cstring>

namespace resprout::runtime {

using protocols::DecisionKind;
using protocols::DecisionMessage;

namespace {

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// Takes a T off the front of `bytes`. False: it is not there.
template <typename T>
bool take(std::span<const std::byte>& bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return true;
}

bool is_good(const DecisionMessage& message, std::int32_t degree) {
  const auto is_replica = [&](Rank rank) { return index(rank) >= 0 && index(rank) < degree; };
  const bool may_carry =
      message.kind == DecisionKind::decisions || message.kind == DecisionKind::answer;
  return is_replica(message.from) && is_replica(message.to) && message.from != message.to &&
         message.kind <= DecisionKind::farewell && message.first > 0 &&
         message.round < static_cast<std::uint32_t>(degree) && message.released <= message.length &&
         message.count <= message.length && (may_carry || message.count == 0) &&
         (message.count == 0 || message.first - 1 <= message.length - message.count);
}

}  // namespace

std::vector<std::byte> bytes_of(const DecisionFrame& frame) {
  std::vector<std::byte> bytes;
  append(bytes, std::as_bytes(std::span(&frame.message, 1)));
  for (const Decision& decision : frame.decisions) {
    const DecisionHead head{.refusals = decision.refusals,
                            .bytes = decision.answer.size(),
                            .kind = decision.kind,
                            .has_answer = decision.has_answer ? 1U : 0U};
    append(bytes, std::as_bytes(std::span(&head, 1)));
    append(bytes, decision.answer);
  }
  return bytes;
}

std::optional<DecisionFrame> read_decision_frame(std::span<const std::byte> bytes,
                                                 std::int32_t degree) {
  DecisionFrame frame;
  if (!take(bytes, frame.message) || !is_good(frame.message, degree)) return std::nullopt;
  for (std::uint64_t i = 0; i < frame.message.count; ++i) {
    DecisionHead head;
    if (!take(bytes, head) || head.bytes > bytes.size() || head.has_answer > 1) return std::nullopt;
    const auto answer = bytes.first(static_cast<std::size_t>(head.bytes));
    frame.decisions.push_back({.refusals = head.refusals,
                               .has_answer = head.has_answer == 1,
                               .kind = head.kind,
                               .answer = {answer.begin(), answer.end()}});
    bytes = bytes.subspan(answer.size());
  }
  if (!bytes.empty()) return std::nullopt;
  return frame;
}

}  // namespace resprout::runtime
