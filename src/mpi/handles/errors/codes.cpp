#include "mpi/handles/errors/codes.hpp"

#include <mpi.h>

#include "openmpi/ulfm.hpp"

namespace resprout::shim {

// A class is its own code: mostly there is nothing to look up.
int class_of(int code) {
  if (code == MPI_SUCCESS || code == ulfm::revoked_class() || code == ulfm::proc_failed_class())
    return code;
  int found = MPI_SUCCESS;
  PMPI_Error_class(code, &found);
  return found;
}

int proc_failed() { return ulfm::proc_failed_class(); }

bool is_loss(int code) {
  const int found = class_of(code);
  return found == ulfm::proc_failed_class() || found == ulfm::proc_failed_pending_class() ||
         found == ulfm::revoked_class();
}

bool is_pending(int code) { return class_of(code) == ulfm::proc_failed_pending_class(); }
bool is_revoked(int code) { return class_of(code) == ulfm::revoked_class(); }

}  // namespace resprout::shim
