// MPI_File_open and MPI_File_delete, where planes of replicas have files of their own
// (shadows.hpp). Thread rule: as MPI's own.
#pragma once

#include <mpi.h>

#include "shim/files/shadows.hpp"

namespace resprout::shim {

// Where this plane has the file, as one process finds out: there where the program says if this is
// no replica. What is wrong is said on stderr.
Shadows::Place place_of(const char* filename, int amode);
// This plane has opened it there.
void note_open(const char* filename, int amode, const Shadows::Place& place);

}  // namespace resprout::shim
