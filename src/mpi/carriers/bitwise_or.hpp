// The bitwise OR of what all members say, for agreements of ours. Calls nothing of the program's.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/operation.hpp"

namespace resprout::shim {

class BitwiseOr final : public runtime::Combiner {
 public:
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    for (std::size_t i = 0; i < upper.size(); ++i) upper[i] |= lower[i];
  }
  bool is_commutative() const override { return true; }
  bool is_for_program() const override { return false; }
};

}  // namespace resprout::shim
