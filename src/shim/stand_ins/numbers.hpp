// A number for any of MPI's predefined types.
// Thread rule: pure.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace resprout::shim {

// Writes `count` elements that are `number`, rounded towards zero where the type has no fractions;
// real parts of complex ones. False, and nothing is written: the datatype is no number of MPI's.
bool fill_with(long double number, void* buffer, int count, MPI_Datatype datatype);

}  // namespace resprout::shim
