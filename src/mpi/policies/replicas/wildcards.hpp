// Which message a call takes that may take one from anybody.
//
// Thread rule: from one thread of the program at a time, in the same order in all replicas.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/policies/replicas/decided.hpp"

namespace resprout::shim {

// What a receive or a probe asks for: (source, tag) itself, unless replicas have to take the same
// and anybody may be the source. Then it is where a message is decided to come from; waits until
// there is one.
Decided::From decided_source(MPI_Comm comm, int source, int tag);

// Where the message comes from that is there now, if there is one.
std::optional<Decided::From> look_for_message(MPI_Comm comm, int source, int tag);

}  // namespace resprout::shim
