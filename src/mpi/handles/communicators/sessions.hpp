// The sessions of communicators: opened where those are made, or by their first collective.
//
// Thread rule: under the engine's lock, unless said.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/handles/communicators/communicator.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

// The session for a collective on `comm`; null if its collectives are the MPI library's business.
runtime::Session* session_of(MPI_Comm comm, runtime::Lock& lock);
// The same without the lock, which is taken if the session has to be opened. `communicator`: what
// is known of `comm`.
runtime::Session* session_of(Communicator& communicator, MPI_Comm comm);

// The same of any communicator whose members have one, also of an inter-communicator, whose
// collectives are not carried there (both_groups.hpp).
runtime::Session* session_of_members(MPI_Comm comm, runtime::Lock& lock);

// The session for what the members do about losses: agree, shrink. It is never revoked, but where
// this process is cut off.
runtime::Session* repair_session_of(MPI_Comm comm, runtime::Lock& lock);

// For the wrappers that make a communicator: opens its session under a name that all members know.
void open_communicator(MPI_Comm comm, std::uint64_t name, runtime::Lock& lock);

// For the wrappers that have the MPI library start a duplicate of `comm` (MPI_Comm_idup): `made` is
// its handle, of which MPI may not be asked anything yet. All members say so, in the same order.
void name_started_duplicate(MPI_Comm comm, MPI_Comm made);

}  // namespace resprout::shim
