// Communicators, and persistent collectives, that the program has freed here, and perhaps not
// everywhere yet: MPI_Comm_free and MPI_Request_free wait for nobody, as ranks may free theirs in
// any order. Their sessions go on beside the program until all have said goodbye, for who is left
// may still need what is kept for it.
//
// What carried the messages of one that was made after a loss is drained then, and given back.
//
// Revoke, on MPI_Comm_free: lazily and loosely synchronized. Thread rule: under the engine's lock.
#pragma once

#include <memory>

#include "mpi/handles/communicators/communicator.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {

// REQUIRES: it has a session, which is not revoked, and no tasks; nobody asks for it any more, but
// for those of its requests that are left.
void depart(std::unique_ptr<Communicator> communicator);
// One of no communicator, which may have tasks. Nobody begins anything in it any more.
void depart(runtime::Session& session);
// Closes the sessions of those that all have left. Waits for nobody; the lock is released
// meanwhile.
void finish_departures(runtime::Engine& engine, runtime::Lock& lock);
// One of those was made after a loss: what carries its messages is not given back yet.
bool is_any_carrier_departing();

}  // namespace resprout::shim
