// Every collective says what this rank gives to it, in any form, before anything is done with that:
// a bit of it may be due to be flipped (flips.hpp).
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/policies/call_data.hpp"
#include "mpi/policies/inject/flips.hpp"

namespace resprout::shim {

// Flips of collectives are armed in this process.
inline bool may_flip_given() {
  const Flips* flips = armed_flips.load(std::memory_order_acquire);
  return flips != nullptr && flips->has_collectives();
}

// To be described. Nothing: it is none of those in which bits are flipped.
std::optional<CallData> sides_to_flip(MPI_Comm comm);
// `call`: its lower-case MPI name. REQUIRES: may_flip_given().
void flip_given(const CallData& call_data, MPI_Comm comm, const char* call);

// Within one call.
class FlippedGiven {
 public:
  template <typename Description>
  FlippedGiven(MPI_Comm comm, const char* call, const Description& describe) {
    if (!may_flip_given()) [[likely]]
      return;
    auto call_data = sides_to_flip(comm);
    if (!call_data) return;
    describe(*call_data);
    flip_given(*call_data, comm, call);
  }
};

}  // namespace resprout::shim
