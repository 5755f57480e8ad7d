// Carriers of one kind of call, in the order in which they are asked: the first that can carry a
// call runs it. What a loss has interrupted is for one behind it.
//
// Thread rule: as the call's.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/invariant.hpp"

namespace resprout::shim {

template <typename Call>
struct Carrier {
  // The same answer at all members of the communicator.
  bool (*can_carry)(Call& call);
  // What the call returns. Nothing: a loss came in between, at all members alike.
  std::optional<int> (*run)(Call& call);
};

// What the call returns. REQUIRES: the last one carries everything, whatever is lost.
template <typename Call, std::size_t count>
int carry(const std::array<Carrier<Call>, count>& carriers, Call& call) {
  for (const Carrier<Call>& carrier : carriers) {
    if (!carrier.can_carry(call)) continue;
    if (const std::optional<int> code = carrier.run(call)) return *code;
  }
  end_broken("the last carrier carries everything", __FILE__, __LINE__);
}

}  // namespace resprout::shim
