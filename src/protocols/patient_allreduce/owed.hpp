// What a process owes to its operations: the contributions of calls that came too late
// (patient_allreduce.hpp). They go into its next call that is in time.
//
// Each contribution of a process that lives is in exactly one result, or still owed: a call gives
// all that is owed with its own contribution, or gives nothing and owes that, too.
// Thread rule: a value.
#pragma once

#include <optional>
#include <utility>

namespace resprout::protocols {

template <typename Value>
class Owed {
 public:
  bool is_owing() const { return sum_.has_value(); }
  // REQUIRES: is_owing().
  const Value& sum() const { return *sum_; }

  // A call that is in time: what it gives. fold(earlier, later) is the operator.
  template <typename Fold>
  Value give(Value own, Fold fold) {
    if (!sum_) return own;
    return fold(*std::exchange(sum_, std::nullopt), std::move(own));
  }

  // A call that is late.
  template <typename Fold>
  void put_off(Value own, Fold fold) {
    sum_ = give(std::move(own), fold);
  }

 private:
  std::optional<Value> sum_;
};

}  // namespace resprout::protocols
