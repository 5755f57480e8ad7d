// Attributes and the rest of what a program hangs on a handle, for handles that MPI neither
// duplicates nor frees: those of remade communicators are made in MPI_Init and used again.
//
// MPI keeps the attributes; which ones there are, and how their keys are to be copied, it does not
// tell. So the calls that say it are watched.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// As MPI_Comm_dup has it: attributes by their copy functions. What those return.
int copy_attributes(MPI_Comm from, MPI_Comm to);
// As MPI_Comm_free has it: attributes by their delete functions. What those return.
int delete_attributes(MPI_Comm comm);

}  // namespace resprout::shim
