// A process that ends without MPI_Finalize while the job goes on.
//
// For Open MPI's runtime only a death by signal is a failure that it tells the others about; after
// an `exit` their MPI_Finalize waits for ever. So such an exit ends as a SIGKILL. That is decided
// when nothing of the program can run any more: an exit handler, a global object or a library may
// call MPI_Finalize on the way out, however long before MPI_Init it was there.
#pragma once

namespace resprout::shim {

// Once, in MPI_Init. Thread rule: any.
void watch_for_leaving();
// It is in the library's MPI_Finalize, whose callbacks of the program may exit, or through it.
// Thread rule: MPI_Finalize's.
void note_in_finalize(bool is_inside);

}  // namespace resprout::shim
