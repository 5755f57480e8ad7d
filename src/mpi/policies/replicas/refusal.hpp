// Calls that verification cannot carry yet: what they give may differ from replica to replica
// without any corruption, and what the program makes of that would look like one.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include "mpi/policies/replicas/messages.hpp"

namespace resprout::shim {

// Says which call it is and what to do, and ends the job. `call`: its MPI name.
[[noreturn]] void refuse_call(const char* call, const char* why, const char* remedy);
[[noreturn]] void refuse_unverifiable(const char* call, const char* why);

// Nothing happens unless messages are verified, or replicas stand in for each other.
inline void refuse_if_verified(const char* call, const char* why) {
  if (verified_messages.load(std::memory_order_acquire) != nullptr) [[unlikely]]
    refuse_unverifiable(call, why);
}

}  // namespace resprout::shim
