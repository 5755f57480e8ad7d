// What the explorations of native gathers and scans have in common (native_gather_test.cpp,
// native_scan_test.cpp).
#pragma once

#include "sim/adversary/defects.hpp"

namespace resprout::sim {

// Who has returned takes no part in a settlement.
template <typename M>
class WithoutGivingTwice : public Defective<M> {
 public:
  using Defective<M>::Defective;

  Disposition handle_message(const Context& context, const Message& message) {
    return is_through() ? Disposition::done : this->machine_.handle_message(context, message);
  }
  void handle_suspicion(const Context& context, Rank rank) {
    if (!is_through()) this->machine_.handle_suspicion(context, rank);
  }

 private:
  bool is_through() const { return this->machine_.has_returned() && !this->machine_.is_settling(); }
};

}  // namespace resprout::sim
