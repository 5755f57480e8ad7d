// A set of ranks that is cheap to fill, to walk in ascending order and to empty when few are in it:
// bits, and above them a bit for each word that may hold some.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace resprout::sim {

// Adding up is quicker than the call that std::popcount is without the processor's instruction.
constexpr std::int32_t count_bits(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<std::int32_t>((word * 0x0101010101010101u) >> 56);
}

// The same of many words at once: sums of bytes are added up before they are folded.
inline std::int32_t count_bits(std::span<const std::uint64_t> words) {
  constexpr std::size_t block = 16;  // of at most 8 a byte each
  std::int32_t count = 0;
  for (; words.size() >= block; words = words.subspan(block)) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < block; ++i) {
      std::uint64_t word = words[i];
      word -= word >> 1 & 0x5555555555555555u;
      word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
      bytes += (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    }
    bytes = (bytes & 0x00ff00ff00ff00ffu) + (bytes >> 8 & 0x00ff00ff00ff00ffu);
    count += static_cast<std::int32_t>((bytes * 0x0001000100010001u) >> 48);
  }
  for (const std::uint64_t word : words) count += count_bits(word);
  return count;
}

class RankBits {
 public:
  explicit RankBits(std::int32_t procs)
      : words_((static_cast<std::size_t>(procs) + 63) / 64 + 1), used_(words_.size() / 64 + 1) {}

  bool contains(std::int32_t rank) const {
    return (words_[word_of(rank)] >> (static_cast<std::uint32_t>(rank) % 64) & 1) != 0;
  }

  // Whether it was not in it.
  bool insert(std::int32_t rank) {
    const std::size_t at = word_of(rank);
    const std::uint64_t bit = std::uint64_t{1} << (static_cast<std::uint32_t>(rank) % 64);
    if (words_[at] == 0) used_[at / 64] |= std::uint64_t{1} << (at % 64);
    const bool is_new = (words_[at] & bit) == 0;
    words_[at] |= bit;
    return is_new;
  }

  void erase(std::int32_t rank) {
    words_[word_of(rank)] &= ~(std::uint64_t{1} << (static_cast<std::uint32_t>(rank) % 64));
  }

  // The ranks 64*at .. 64*at + 63.
  std::uint64_t word(std::size_t at) const { return words_[at]; }

  // Each word to be written, as if all of them held some. What is no rank must stay 0.
  std::span<std::uint64_t> all_words() {
    const std::size_t count = words_.size() - 1;
    for (std::size_t i = 0; i < count / 64; ++i) used_[i] = ~std::uint64_t{0};
    if (count % 64 != 0) used_[count / 64] = (std::uint64_t{1} << (count % 64)) - 1;
    return std::span(words_).first(count);
  }
  std::span<const std::uint64_t> words() const { return words_; }

  // By word, which of them may hold some.
  std::span<const std::uint64_t> used() const { return used_; }

  // The ranks `from` .. `from` + 63, the first in the lowest bit. REQUIRES: 0 <= from < procs.
  std::uint64_t row(std::int32_t from) const {
    const std::size_t at = word_of(from);
    const std::uint32_t shift = static_cast<std::uint32_t>(from) % 64;
    return words_[at] >> shift | words_[at + 1] << 1 << (63 - shift);
  }

  // Calls f(at) for each word that may hold ranks, lowest first.
  template <typename F>
  void for_each_word(F f) const {
    for (std::size_t i = 0; i < used_.size(); ++i)
      for (std::uint64_t left = used_[i]; left != 0; left &= left - 1)
        f(i * 64 + static_cast<std::size_t>(std::countr_zero(left)));
  }

  void clear() {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const auto first = words_.begin() + static_cast<std::ptrdiff_t>(i * 64);
      if (used_[i] == ~std::uint64_t{0})
        std::fill_n(first, 64, 0);
      else
        for (std::uint64_t left = used_[i]; left != 0; left &= left - 1)
          first[std::countr_zero(left)] = 0;
      used_[i] = 0;
    }
  }

 private:
  static std::size_t word_of(std::int32_t rank) { return static_cast<std::uint32_t>(rank) / 64; }

  std::vector<std::uint64_t> words_;  // and one behind them that stays empty
  std::vector<std::uint64_t> used_;
};

}  // namespace resprout::sim
