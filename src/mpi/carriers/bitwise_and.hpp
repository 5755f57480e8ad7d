// The bitwise AND of what all members give, for agreements of ours. Calls nothing of the program's.
#pragma once

#include "protocols/agreement/opinion.hpp"
#include "runtime/operation.hpp"

namespace resprout::shim {

class BitwiseAnd final : public runtime::Combiner {
 public:
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    protocols::agree_on(lower, upper);
  }
  bool is_commutative() const override { return true; }
  bool is_for_program() const override { return false; }
};

}  // namespace resprout::shim
