// What is agreed on in MPIX_Comm_agree: a flag, and which failures the program knows.
//
// An opinion is the flag's bytes, in the order of the job's hosts, and one bit for each rank of the
// communicator. The bitwise AND of those of several processes is what they agree on: the AND of
// their flags, and the failures that all of them have acknowledged. Thread rule: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace resprout::protocols {

// The bytes of an opinion on a communicator of `size` processes.
constexpr std::size_t opinion_bytes(std::int32_t size) {
  return sizeof(std::int32_t) + (static_cast<std::size_t>(size) + 7) / 8;
}

// Of a process that has acknowledged the failure of these ranks. REQUIRES: `opinion` is of
// opinion_bytes.
inline void write_opinion(std::span<std::byte> opinion, std::int32_t flag,
                          std::span<const std::int32_t> acknowledged) {
  std::memset(opinion.data(), 0, opinion.size());
  std::memcpy(opinion.data(), &flag, sizeof flag);
  for (const std::int32_t rank : acknowledged)
    opinion[sizeof flag + static_cast<std::size_t>(rank) / 8] |= std::byte{1} << rank % 8;
}

// upper := lower and upper.
inline void agree_on(std::span<const std::byte> lower, std::span<std::byte> upper) {
  for (std::size_t i = 0; i < upper.size(); ++i) upper[i] &= lower[i];
}

inline std::int32_t flag_of(std::span<const std::byte> opinion) {
  std::int32_t flag = 0;
  std::memcpy(&flag, opinion.data(), sizeof flag);
  return flag;
}

inline bool acknowledges(std::span<const std::byte> opinion, std::int32_t rank) {
  const std::byte bits = opinion[sizeof(std::int32_t) + static_cast<std::size_t>(rank) / 8];
  return (bits >> rank % 8 & std::byte{1}) != std::byte{0};
}

// The verdict: true if some rank of `size` is left out, as all agree, though not all who agree have
// acknowledged its failure. is_left_out(rank): now, or by an earlier operation.
template <typename IsLeftOut>
bool has_unknown_failure(std::span<const std::byte> agreed, std::int32_t size,
                         const IsLeftOut& is_left_out) {
  for (std::int32_t rank = 0; rank < size; ++rank)
    if (is_left_out(rank) && !acknowledges(agreed, rank)) return true;
  return false;
}

}  // namespace resprout::protocols
