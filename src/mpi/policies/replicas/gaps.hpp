// What there is to receive in a plane with a gap (replica_substitution.hpp): of the living what MPI
// has, of the lost what their siblings have sent.
//
// Whatever MPI has of a lost process is left there: from the moment that this process knows of the
// loss, nobody asks MPI for messages of the lost, by name or by MPI_ANY_SOURCE. So each message is
// taken once.
//
// Thread rule: from any thread. REQUIRES throughout: World::current() is not null.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/policies/replicas/decided.hpp"

namespace resprout::shim {

// It is lost, and siblings stand in for it.
bool is_stood_in_for(MPI_Comm comm, int rank);

// Where a message comes from that is there now, and was not received yet.
std::optional<Decided::From> find_message(MPI_Comm comm, int source, int tag);

// MPI_Probe of a message that a lost process should have sent: waits until a sibling has.
int probe_in_gap(MPI_Comm comm, int source, int tag, MPI_Status* status);

}  // namespace resprout::shim
