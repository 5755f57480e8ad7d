// What the replicas of a rank say to each other about decisions, as it travels.
//
// A frame is a message of protocols/decision_log, then the decisions that it names, one behind the
// other: DecisionHead and so many bytes. Both ends are of one architecture.
// Thread rule: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "protocols/decision_log/message.hpp"

namespace resprout::runtime {

// The kind of what belongs to no call.
inline constexpr std::uint32_t announcement = UINT32_MAX;

// What was decided: so many polls in a row said no, then, unless it ends there, something was
// answered, or announced.
struct Decision {
  std::uint64_t refusals = 0;
  bool has_answer = false;
  std::uint32_t kind = 0;  // of the call that was answered
  std::vector<std::byte> answer;

  bool is_announcement() const { return has_answer && kind == announcement; }
  bool operator==(const Decision&) const = default;
};

struct DecisionHead {
  std::uint64_t refusals = 0;
  std::uint64_t bytes = 0;
  std::uint32_t kind = 0;
  std::uint32_t has_answer = 0;
};
static_assert(std::has_unique_object_representations_v<DecisionHead>);

struct DecisionFrame {
  protocols::DecisionMessage message;
  std::vector<Decision> decisions;  // those that it names
};

std::vector<std::byte> bytes_of(const DecisionFrame& frame);
// Nothing if there is none, or if it is not one of replicas of this degree: it comes from another
// program.
std::optional<DecisionFrame> read_decision_frame(std::span<const std::byte> bytes,
                                                 std::int32_t degree);

}  // namespace resprout::runtime
