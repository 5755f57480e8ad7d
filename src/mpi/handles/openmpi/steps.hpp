// What the MPI library does in steps: it makes communicators so, each of which is several parts
// that wait for each other.
//
// Open MPI 5.0 goes on with a duplicate (MPI_Comm_idup) whose number could not be agreed on, and
// then frees what is not its own: "free(): invalid pointer". All steps come through
// `ompi_comm_request_schedule_append`, so each is put into one of ours, which ends it where
// a part that it has waited for ended with an error. What was begun is left where it is.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// As MPI_Comm_idup, of the library.
int start_duplicate(MPI_Comm comm, MPI_Comm* made, MPI_Request* request);

// What the library calls to go on with something that it does in steps.
using Step = int (*)(void* steps);
// What is to be the next step instead, when these are complete. REQUIRES: called for all of them.
Step next_step(void* steps, Step step, const MPI_Request requests[], int count);
// Whose step this thread is in; null: nobody's.
void* step_under_way();
// `over` is called when something that it does in steps is over. Once, in MPI_Init.
void tell_when_over(void (*over)(void* steps));

}  // namespace resprout::shim
