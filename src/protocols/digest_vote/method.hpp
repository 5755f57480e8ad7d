// Who sends what to whom, by method and degree: arithmetic on replica numbers.
//
// Lazy Fault Detection for Redundant MPI, sections 4.1 and 4.2; the first two methods are RedMPI's.
// Thread rule: pure functions.
#pragma once

#include <cstdint>

#include "core/rank.hpp"

namespace resprout::protocols {

enum class VoteMethod : std::uint8_t {
  all_to_all,     // every sender to every receiver; given to the program when all have come
  msg_plus_hash,  // to the receiver of the same number, a digest to the next one; likewise
  async,          // as all_to_all, but the program gets what comes first
  async_hash,     // as msg_plus_hash, but the program does not wait for the digest
};

// Which copy a lazy method gives to the program before anything is proven.
enum class Unproven : std::uint8_t {
  first,  // whichever comes first
  own,    // that of the sender of its own number, so that its corruption taints nobody else
};

// The part of one receiver that one sender owes it unasked.
enum class Share : std::uint8_t { none, data, digest };

struct DigestVoteConfig {
  VoteMethod method = VoteMethod::async_hash;
  std::int32_t degree = 2;  // 2 or 3
  Unproven unproven = Unproven::first;

  constexpr std::int32_t procs() const { return 2 * degree; }
  constexpr bool is_lazy() const {
    return method == VoteMethod::async || method == VoteMethod::async_hash;
  }
  constexpr bool sends_digests() const {
    return method == VoteMethod::msg_plus_hash || method == VoteMethod::async_hash;
  }
  constexpr Share share(std::int32_t sender, std::int32_t receiver) const {
    if (!sends_digests() || sender == receiver) return Share::data;
    return (sender + 1) % degree == receiver ? Share::digest : Share::none;
  }

  constexpr bool is_sender(Rank rank) const { return index(rank) < degree; }
  // The number of this process among the replicas of its rank.
  constexpr std::int32_t replica(Rank rank) const { return index(rank) % degree; }
  constexpr Rank sender(std::int32_t replica) const { return rank_at(replica); }
  constexpr Rank receiver(std::int32_t replica) const { return rank_at(degree + replica); }
};

}  // namespace resprout::protocols
