// How many bytes an element of a datatype has, however many: an int does not hold 2 GiB.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace resprout::shim {

// 0 if MPI does not know. Gaps do not count.
inline std::size_t size_of_type(MPI_Datatype datatype) {
  MPI_Count bytes = 0;
  if (PMPI_Type_size_x(datatype, &bytes) != MPI_SUCCESS || bytes < 0) return 0;
  return static_cast<std::size_t>(bytes);
}

}  // namespace resprout::shim
