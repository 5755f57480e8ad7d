#include "mpi/process/calls_mutex.hpp"

#include "mpi/process/thread_level.hpp"

namespace resprout::shim {

void CallsMutex::note_thread_level() { may_overlap.store(may_call_mpi_anywhere()); }

}  // namespace resprout::shim
