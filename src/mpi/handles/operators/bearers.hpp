// Who bears a handle of MPI's: it may go to another datatype, or operator, when the one that had it
// is freed.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// Which one of those that have had the handle, from 0.
using Bearer = unsigned;

Bearer bearer_of(MPI_Datatype datatype);
Bearer bearer_of(MPI_Op op);

// Just before MPI frees it.
void note_freed(MPI_Datatype datatype);
void note_freed(MPI_Op op);

}  // namespace resprout::shim
