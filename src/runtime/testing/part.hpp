// What processes of stories (story.hpp) give to collectives: it says who gave it and for which
// step, so that nothing passes for anything else, and adds up.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/operation.hpp"

namespace resprout::runtime::testing {

inline constexpr std::size_t slices_each = 3;

// What a process gives, or a sum of it: who it is from, and for which step, so that nothing passes
// for anything else.
struct Part {
  std::uint64_t ranks = 0;
  std::uint64_t stamp = 0;
  std::uint64_t places = 0;  // in the communicator, 4 bits each, in the order in which it was added

  static Part of(int rank, int place, std::size_t step, std::size_t slice = 0) {
    return {std::uint64_t{1} << rank, stamp_of(step, slice), static_cast<std::uint64_t>(place)};
  }
  static std::uint64_t stamp_of(std::size_t step, std::size_t slice = 0) {
    return 1000003 * (step * slices_each + slice + 1);
  }
  static Part from(std::span<const std::byte> bytes) {
    Part part;
    std::memcpy(&part, bytes.data(), sizeof part);
    return part;
  }
  bool is_sum_of(std::size_t step, std::size_t slice = 0) const {
    return stamp == stamp_of(step, slice) * static_cast<std::uint64_t>(std::popcount(ranks));
  }
  bool is_in_order() const {
    for (std::uint64_t rest = places; rest >> 4 != 0; rest >>= 4)
      if ((rest & 15) <= (rest >> 4 & 15)) return false;
    return true;
  }
  // Not a union: what is in it twice shows.
  Part& operator+=(const Part& other) {
    ranks += other.ranks;
    stamp += other.stamp;
    places = places << 4 * std::popcount(other.ranks) | other.places;
    return *this;
  }
};

inline std::span<const std::byte> bytes_of(const Part& part) {
  return std::as_bytes(std::span(&part, 1));
}

class PartSum final : public Combiner {
 public:
  explicit PartSum(bool is_commutative) : is_commutative_(is_commutative) {}
  bool is_commutative() const override { return is_commutative_; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    Part sum = Part::from(lower);
    sum += Part::from(upper);
    std::memcpy(upper.data(), &sum, sizeof sum);
  }

 private:
  const bool is_commutative_;
};

}  // namespace resprout::runtime::testing
