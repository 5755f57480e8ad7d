// What processes of stories (story.hpp) give to collectives: it says who gave it and for which
// step, so that nothing passes for anything else, and adds up.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

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

// A part at both ends of so many bytes, or once if there is no room for two. They are erased when
// it goes, so that it shows if somebody still reads them.
class Payload {
 public:
  Payload() = default;
  // REQUIRES: bytes >= sizeof(Part).
  Payload(const Part& part, std::size_t bytes) : bytes_(bytes) {
    std::memcpy(bytes_.data(), &part, sizeof part);
    std::memcpy(bytes_.data() + bytes - sizeof part, &part, sizeof part);
  }
  explicit Payload(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}
  Payload(Payload&&) = default;
  Payload& operator=(Payload&&) = default;
  ~Payload() {
    if (!bytes_.empty()) explicit_bzero(bytes_.data(), bytes_.size());
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  // Both ends of it say the same, and it is of this size.
  static bool is_whole(std::span<const std::byte> payload, std::size_t bytes) {
    return payload.size() == bytes &&
           std::memcmp(payload.data(), payload.last(sizeof(Part)).data(), sizeof(Part)) == 0;
  }

 private:
  std::vector<std::byte> bytes_;
};

class PartSum final : public Combiner {
 public:
  explicit PartSum(bool is_commutative) : is_commutative_(is_commutative) {}
  bool is_commutative() const override { return is_commutative_; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    add(lower.first(sizeof(Part)), upper.first(sizeof(Part)));
    if (upper.size() >= 2 * sizeof(Part)) add(lower.last(sizeof(Part)), upper.last(sizeof(Part)));
  }

 private:
  static void add(std::span<const std::byte> lower, std::span<std::byte> upper) {
    Part sum = Part::from(lower);
    sum += Part::from(upper);
    std::memcpy(upper.data(), &sum, sizeof sum);
  }

  const bool is_commutative_;
};

}  // namespace resprout::runtime::testing
