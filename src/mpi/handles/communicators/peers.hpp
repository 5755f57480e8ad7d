// The other end of a point-to-point call: is it lost?
//
// Thread rule: from any thread. REQUIRES throughout: World::current() is not null.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// Somebody is lost, or a communicator is revoked: two loads, to see that nothing is amiss.
bool has_anything_happened();

// The process that has this rank in `comm` is lost: the lifeline says so, or MPI has. Nothing but
// a load while nobody is.
bool is_lost(MPI_Comm comm, int rank);

// Nothing can be sent to it: it is lost, or the communicator is revoked.
bool is_out_of_reach(MPI_Comm comm, int rank);
// What a call on `comm` returns that would wait for ever: MPIX_ERR_REVOKED if that is why.
int code_of_loss(MPI_Comm comm);

// MPI sends so much at once, whatever its transport: it does not wait for the receiver.
bool is_sent_at_once(int count, MPI_Datatype datatype);

// MPI has ended a call with `code` whose only peer was `rank`; MPI may know before the lifeline.
void note_code(MPI_Comm comm, int rank, int code);

// Nobody is left who could send what `source` names: a lost process, or MPI_ANY_SOURCE and all
// others are lost; or the communicator is revoked.
bool is_hopeless(MPI_Comm comm, int source);
// Whether nobody is left who could send what `source` names, no matter whether `comm` is revoked.
bool is_without_peer(MPI_Comm comm, int source);

}  // namespace resprout::shim
