// Whether the bytes of a datatype's elements lie in memory in the order in which MPI counts them.
//
// A transposed matrix need have no gaps, and yet is not what lies in memory byte after byte.
// Thread rule: pure.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// The bytes of one element ascend in memory and do not overlap. May be false also if they do, for
// distributed arrays and what MPI-1 made.
bool is_in_order(MPI_Datatype datatype);

}  // namespace resprout::shim
