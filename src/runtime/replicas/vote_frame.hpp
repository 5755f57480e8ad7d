// What replicas say to each other about messages, as it travels.
//
// Thread rule: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "protocols/digest_vote/message.hpp"
#include "protocols/digest_vote/method.hpp"
#include "runtime/replicas/streams.hpp"

namespace resprout::runtime {

struct VoteFrame {
  enum class Kind : std::uint32_t {
    vote,  // `message`, about the message `name`; the bytes of a copy follow
    over,  // the sender of this frame, a receiver of that stream, asks no more about all before it
    plane_over,  // nobody in the plane of its sender receives, or asks for, anything any more
    ask_end,     // the sender of this frame wants to hear when its reader has sent all
    all_sent,    // what has not come from there before this frame never comes
    absent,      // the sender of this frame has no such message, and never will
    abstain,     // what it has of that name is made of what others have said
  };
  MessageName name;
  protocols::VoteMessage message{};
  Kind kind = Kind::vote;
  std::uint32_t reserved = 0;

  constexpr bool operator==(const VoteFrame&) const = default;
};

static_assert(std::has_unique_object_representations_v<VoteFrame>);
static_assert(std::is_trivially_copyable_v<VoteFrame>);

inline std::span<const std::byte> bytes_of(const VoteFrame& frame) {
  return std::as_bytes(std::span(&frame, 1));
}

// The frame that `bytes` begin with; what follows belongs to it. Nothing if there is none, or if it
// is not one that `config` has: it comes from another program.
inline std::optional<VoteFrame> read_vote_frame(std::span<const std::byte> bytes,
                                                const protocols::DigestVoteConfig& config) {
  VoteFrame frame;
  if (bytes.size() < sizeof(frame)) return std::nullopt;
  std::memcpy(&frame, bytes.data(), sizeof(frame));
  using Kind = VoteFrame::Kind;
  if (frame.kind >= Kind::over && frame.kind <= Kind::abstain) return frame;
  const auto is_process = [&](Rank rank) {
    return index(rank) >= 0 && index(rank) < config.procs();
  };
  const bool is_good = frame.kind == VoteFrame::Kind::vote && frame.name.number > 0 &&
                       is_process(frame.message.from) && is_process(frame.message.to) &&
                       frame.message.kind <= protocols::VoteKind::nothing &&
                       frame.message.origins >> config.degree == 0;
  return is_good ? std::optional(frame) : std::nullopt;
}

}  // namespace resprout::runtime
