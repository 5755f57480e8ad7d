// A sum of floating-point numbers whose bits do not depend on the order of its additions.
//
// Rounding makes a + b + c depend on where the parentheses stand. So each number is cut into whole
// multiples of the powers of 2^32, its *limbs*; limbs of one power are added as integers, which is
// exact; and the sum keeps the three highest powers that any of its numbers has. What a number has
// below them is cut off, of each number by itself. So the sum is a function of the *set* of
// numbers: which power is the highest, and the sums of limbs, know no order. docs/how-to/sum.md
// compares it with other ways.
//
// Invariants
//  1. limbs_[i] stands for limbs_[i] * 2^(32 * (top_ - i)). No carries before the end.
//  2. top_ is the highest power of which a number that was added has a limb other than 0.
// Limits: 2^30 numbers. What n numbers lose together is less than n * 2^-64 of the largest of them.
// Thread rule: a value.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace resprout::shim {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UnsignedInt128;

class GridSum {
 public:
  GridSum() = default;

  // The sum of one number.
  template <typename F>
  explicit GridSum(F number) {
    static_assert(std::numeric_limits<F>::digits <= 64);
    if (!std::isfinite(number)) {
      specials_ = std::isnan(number) ? nan : number > 0 ? positive_infinity : negative_infinity;
      return;
    }
    if (number == 0) return;
    int exponent = 0;
    const F fraction = std::frexp(std::fabs(number), &exponent);  // in [1/2, 1)
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    // |number| = mantissa * 2^(exponent - 64) = (mantissa << shift) * 2^(32 * lowest)
    const std::int32_t lowest = floor_of_32(exponent - 64);
    const UnsignedInt128 digits = static_cast<UnsignedInt128>(mantissa)
                                  << (exponent - 64 - 32 * lowest);
    top_ = lowest + 2;
    for (int i = 0; i < limb_count; ++i) {
      const auto limb = static_cast<std::int64_t>(
          static_cast<std::uint32_t>(digits >> (32 * (limb_count - 1 - i))));
      limbs_[static_cast<std::size_t>(i)] = number < 0 ? -limb : limb;
    }
    if (limbs_[0] == 0) raise(-1);
  }

  void add(const GridSum& other) {
    specials_ |= other.specials_;
    if (other.is_empty()) return;
    if (is_empty()) {
      limbs_ = other.limbs_;
      top_ = other.top_;
      return;
    }
    if (top_ < other.top_) raise(other.top_ - top_);
    const std::int32_t below = top_ - other.top_;
    for (std::int32_t i = below; i < limb_count; ++i)
      limbs_[static_cast<std::size_t>(i)] += other.limbs_[static_cast<std::size_t>(i - below)];
  }

  // Rounded to the nearest F.
  template <typename F>
  F value() const {
    const bool has_both = (specials_ & (positive_infinity | negative_infinity)) ==
                          (positive_infinity | negative_infinity);
    if ((specials_ & nan) != 0 || has_both) return std::numeric_limits<F>::quiet_NaN();
    if (specials_ != 0)
      return (specials_ & positive_infinity) != 0 ? std::numeric_limits<F>::infinity()
                                                  : -std::numeric_limits<F>::infinity();
    if (is_empty()) return 0;
    const Int128 digits =
        (static_cast<Int128>(limbs_[0]) << 64) + (static_cast<Int128>(limbs_[1]) << 32) + limbs_[2];
    return std::ldexp(static_cast<F>(digits), 32 * (top_ - 2));
  }

 private:
  static constexpr int limb_count = 3;
  static constexpr std::int32_t no_top = std::numeric_limits<std::int32_t>::min();
  enum : std::uint32_t { positive_infinity = 1, negative_infinity = 2, nan = 4 };

  static constexpr std::int32_t floor_of_32(std::int32_t i) {
    return i >= 0 ? i / 32 : -((31 - i) / 32);
  }

  bool is_empty() const { return top_ == no_top; }

  // The highest power is `by` higher; -1: one lower, whose limb is the next.
  void raise(std::int32_t by) {
    const auto old = limbs_;
    for (std::int32_t i = 0; i < limb_count; ++i) {
      const std::int32_t from = i - by;
      limbs_[static_cast<std::size_t>(i)] =
          from >= 0 && from < limb_count ? old[static_cast<std::size_t>(from)] : 0;
    }
    top_ += by;
  }

  std::array<std::int64_t, limb_count> limbs_{};
  std::int32_t top_ = no_top;
  std::uint32_t specials_ = 0;
};

static_assert(sizeof(GridSum) == 32 && std::is_trivially_copyable_v<GridSum>);

}  // namespace resprout::shim
