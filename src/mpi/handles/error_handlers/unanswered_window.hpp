// A fence whose process has read from a lost one: what unanswered.hpp says, of a window.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// As follow_unanswered. `comm` has the members of the window. REQUIRES: as there.
void follow_unanswered_window(MPI_Win window, MPI_Comm comm, const char* call, int code);

}  // namespace resprout::shim
