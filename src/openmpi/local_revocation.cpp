#include "openmpi/local_revocation.hpp"

#include <dlfcn.h>

#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

// True unless it is revoked already. `only_collectives`: point-to-point goes on.
using RevokeLocally = bool (*)(MPI_Comm comm, bool only_collectives);

RevokeLocally find() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 5
  return reinterpret_cast<RevokeLocally>(dlsym(RTLD_NEXT, "ompi_comm_revoke_local"));
#else
  return nullptr;
#endif
}

RevokeLocally of_mpi() {
  static const RevokeLocally revoke = find();
  return revoke;
}

}  // namespace

bool can_revoke_locally() { return of_mpi() != nullptr; }

void revoke_locally(MPI_Comm comm) {
  if (of_mpi() != nullptr)
    of_mpi()(comm, false);
  else
    ulfm::revoke(comm);
}

}  // namespace resprout::shim
