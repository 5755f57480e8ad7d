// A set of ranks that is cheap to fill, to walk in ascending order and to empty when few are in it:
// bits, and above them a bit for each word that may hold some.
// Thread rule: one thread.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace resprout::sim {

// Adding up is quicker than the call that std::popcount is without the processor's instruction.
constexpr std::int32_t count_bits(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<std::int32_t>((word * 0x0101010101010101u) >> 56);
}

class RankBits {
 public:
  explicit RankBits(std::int32_t procs)
      : words_(static_cast<std::size_t>(procs) / 64 + 2), used_(words_.size() / 64 + 1) {}

  bool contains(std::int32_t rank) const {
    return (words_[word_of(rank)] >> (static_cast<std::uint32_t>(rank) % 64) & 1) != 0;
  }

  void insert(std::int32_t rank) {
    const std::size_t at = word_of(rank);
    if (words_[at] == 0) used_[at / 64] |= std::uint64_t{1} << (at % 64);
    words_[at] |= std::uint64_t{1} << (static_cast<std::uint32_t>(rank) % 64);
  }

  void erase(std::int32_t rank) {
    words_[word_of(rank)] &= ~(std::uint64_t{1} << (static_cast<std::uint32_t>(rank) % 64));
  }

  // The ranks 64*at .. 64*at + 63.
  std::uint64_t word(std::size_t at) const { return words_[at]; }

  void insert_word(std::size_t at, std::uint64_t ranks) {
    if (ranks == 0) return;
    used_[at / 64] |= std::uint64_t{1} << (at % 64);
    words_[at] |= ranks;
  }

  // The ranks `from` .. `from` + 63, the first in the lowest bit. REQUIRES: 0 <= from < procs.
  std::uint64_t row(std::int32_t from) const {
    const std::size_t at = word_of(from);
    const std::uint32_t shift = static_cast<std::uint32_t>(from) % 64;
    return words_[at] >> shift | words_[at + 1] << 1 << (63 - shift);
  }

  // The same on a ring of `procs` of `procs`. REQUIRES: 0 <= from < procs; procs >= 64.
  std::uint64_t window(std::int32_t from, std::int32_t procs) const {
    const std::uint64_t bits = row(from);
    return from + 64 <= procs ? bits : bits | words_[0] << (procs - from);
  }

  // Calls f(at) for each word that may hold ranks, lowest first.
  template <typename F>
  void for_each_word(F f) const {
    for (std::size_t i = 0; i < used_.size(); ++i)
      for (std::uint64_t left = used_[i]; left != 0; left &= left - 1)
        f(i * 64 + static_cast<std::size_t>(std::countr_zero(left)));
  }

  void clear() {
    for_each_word([this](std::size_t at) { words_[at] = 0; });
    for (std::uint64_t& used : used_) used = 0;
  }

 private:
  static std::size_t word_of(std::int32_t rank) { return static_cast<std::uint32_t>(rank) / 64; }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> used_;
};

}  // namespace resprout::sim
