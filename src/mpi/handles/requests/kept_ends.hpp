// Requests that MPI has ended before the call that asked for them may say so.
//
// MPI_Testall completes all of its requests or none. To find out whether a loss has ended one of
// them we may have to complete it, and then it may have ended well, while others are open. The
// program then keeps a request that is over and has the same end, in place of the one that MPI has
// taken.
//
// Thread rule: as for the request itself, which belongs to one thread at a time.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// `request`, which MPI has taken (it is null), becomes one that is complete, with `status`.
void keep_end(MPI_Request& request, const MPI_Status& status);

}  // namespace resprout::shim
