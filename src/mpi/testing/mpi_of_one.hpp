// MPI for unit tests: a process that nobody launched is a job of one.
#pragma once

#include <mpi.h>

#include <cstdlib>

namespace resprout::shim {

// MPI is there from here to the end of the process. It talks to nobody: Open MPI's shared memory
// would stay behind.
inline void need_mpi() {
  static const int code = [] {
    setenv("OMPI_MCA_btl", "self", 1);
    return PMPI_Init(nullptr, nullptr);
  }();
  static_cast<void>(code);
}

}  // namespace resprout::shim
