// What any member says: agreements of one byte.
#pragma once

#include <cstddef>
#include <span>

#include "mpi/carriers/bitwise_or.hpp"
#include "mpi/carriers/specs.hpp"
#include "runtime/collectives.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

// The OR of what all say. Collective over the session.
inline std::byte what_anybody_says(runtime::Session& session, runtime::Lock& lock, std::byte mine) {
  std::byte said = mine;
  BitwiseOr any;
  runtime::allreduce(session, lock, reduce_spec(session, 1), std::span(&mine, 1), any,
                     [&](std::span<const std::byte> all) { said = all[0]; });
  return said;
}

// Whether any member says true. Collective over the session.
inline bool does_anybody_say(runtime::Session& session, runtime::Lock& lock, bool mine) {
  return what_anybody_says(session, lock, mine ? std::byte{1} : std::byte{0}) != std::byte{0};
}

}  // namespace resprout::shim
