#include "shim/calls_mutex.hpp"

#include "shim/payload.hpp"

namespace resprout::shim {

void CallsMutex::note_thread_level() { may_overlap.store(may_call_mpi_anywhere()); }

}  // namespace resprout::shim
