// Names for people: of MPI calls and communicators. Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <string>

namespace resprout::shim {

// `call`: lower case, without MPI_.
std::string mpi_name_of(const char* call);
// Empty: it has none.
std::string name_of_communicator(MPI_Comm comm);

}  // namespace resprout::shim
