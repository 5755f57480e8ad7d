// Whether any member says so: an agreement of one byte.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/session.hpp"
#include "shim/collectives/bitwise_or.hpp"
#include "shim/collectives/specs.hpp"

namespace resprout::shim {

// Collective over the session.
inline bool does_anybody_say(runtime::Session& session, runtime::Lock& lock, bool mine) {
  bool is_said = mine;
  BitwiseOr any;
  session.allreduce(lock, reduce_spec(session, 1), std::as_bytes(std::span(&mine, 1)), any,
                    [&](std::span<const std::byte> all) { is_said = all[0] != std::byte{0}; });
  return is_said;
}

}  // namespace resprout::shim
