// Communicators that are there only when a request is complete: of MPI_Comm_idup and its kin.
//
// C gives the address at which the handle is to be; Fortran's handle is another one, so C's has a
// place of its own until then.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <memory>

namespace resprout::shim::fortran {

struct LateCommunicator {
  MPI_Comm made;
  MPI_Fint* fortran;  // where the program wants it
};
// It is there when the request is complete.
void note_late_communicator(MPI_Fint request, std::unique_ptr<LateCommunicator> late);
// The request is complete: what it made, if it made a communicator, is given to the program.
void give_late_communicator(MPI_Fint request);

}  // namespace resprout::shim::fortran
