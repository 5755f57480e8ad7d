#include "mpi/process/calls_mutex.hpp"

#include "mpi/handles/datatypes/payload.hpp"

namespace resprout::shim {

void CallsMutex::note_thread_level() { may_overlap.store(may_call_mpi_anywhere()); }

}  // namespace resprout::shim
