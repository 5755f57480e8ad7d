// A set of identifiers of processes, 0 .. capacity-1, as bits.
//
// Thread rule: a value.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/rank.hpp"

namespace resprout::protocols {

template <std::size_t Words>
class IdSet {
 public:
  static constexpr std::int32_t capacity = static_cast<std::int32_t>(Words * 64);

  constexpr IdSet() = default;
  static constexpr IdSet only(Rank id) {
    IdSet set;
    set.add(id);
    return set;
  }
  // 0 .. count-1. REQUIRES: count <= capacity.
  static constexpr IdSet first(std::int32_t count) {
    IdSet set;
    for (std::int32_t id = 0; id < count; ++id) set.add(rank_at(id));
    return set;
  }

  // False for what is no identifier at all.
  constexpr bool contains(Rank id) const {
    return is_id(id) && (words_[word(id)] >> (index(id) % 64) & 1) != 0;
  }
  // REQUIRES, of both: 0 <= id < capacity.
  constexpr void add(Rank id) { words_[word(id)] |= bit(id); }
  constexpr void remove(Rank id) { words_[word(id)] &= ~bit(id); }

  static constexpr bool is_id(Rank id) { return index(id) >= 0 && index(id) < capacity; }

  constexpr std::int32_t count() const {
    std::int32_t sum = 0;
    // One at a time: counting bits is no instruction on every machine, but a function of a library.
    for_each([&sum](Rank) { ++sum; });
    return sum;
  }
  constexpr bool is_empty() const { return *this == IdSet{}; }
  // no_rank: of the empty set.
  constexpr Rank lowest() const { return next(no_rank); }
  // The lowest one above `id`; no_rank: there is none.
  constexpr Rank next(Rank id) const {
    std::int32_t at = index(id) + 1;
    while (at < capacity) {
      const std::uint64_t rest = words_[static_cast<std::size_t>(at) / 64] >> (at % 64);
      if (rest != 0) return rank_at(at + std::countr_zero(rest));
      at = (at / 64 + 1) * 64;
    }
    return no_rank;
  }
  constexpr bool is_within(const IdSet& other) const { return (*this - other).is_empty(); }

  template <typename F>
  constexpr void for_each(F f) const {
    for (Rank id = lowest(); id != no_rank; id = next(id)) f(id);
  }

  constexpr IdSet& operator|=(const IdSet& other) {
    for (std::size_t i = 0; i < Words; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr IdSet& operator&=(const IdSet& other) {
    for (std::size_t i = 0; i < Words; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  constexpr IdSet& operator-=(const IdSet& other) {
    for (std::size_t i = 0; i < Words; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend constexpr IdSet operator|(IdSet a, const IdSet& b) { return a |= b; }
  friend constexpr IdSet operator&(IdSet a, const IdSet& b) { return a &= b; }
  friend constexpr IdSet operator-(IdSet a, const IdSet& b) { return a -= b; }

  constexpr bool operator==(const IdSet&) const = default;

 private:
  static constexpr std::size_t word(Rank id) { return static_cast<std::size_t>(index(id)) / 64; }
  static constexpr std::uint64_t bit(Rank id) { return std::uint64_t{1} << (index(id) % 64); }

  std::array<std::uint64_t, Words> words_{};
};

}  // namespace resprout::protocols
