// MPI_File_open and MPI_File_delete, where planes of replicas have files of their own
// (shadows.hpp). Thread rule: as MPI's own.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// As PMPI_File_open: of the program's file, or of what this plane has in its place.
int open_file(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh);

}  // namespace resprout::shim
