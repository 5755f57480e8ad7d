// XXH3 with 128 bits, by the widest vectors that this processor has. What it says is always the
// same.
// Thread rule: pure.
#pragma once

#include "mpi/policies/digests/xxh3_kinds.hpp"

namespace resprout::shim {

// Those to use.
const Xxh3& xxh3();

}  // namespace resprout::shim
