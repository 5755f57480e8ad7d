// Failures of what the program has already been told is over.
//
// A send whose buffer is free again is complete for the program, but the message may not have left
// yet. If its receiver is lost then, or the communicator revoked, Open MPI 5.0 has nobody to tell,
// and ends the process: "Send error after request freed". Whoever goes on after a loss does not
// want that: what was sent to the lost is lost with them. So it is not done where the MPI survives
// losses. The library goes on behind the call as if it had returned from an error handler.
//
// Thread rule: from any thread, in the library's progress.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdarg>
#include <string_view>

#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

extern "C" void ompi_mpi_errors_are_fatal_comm_handler(MPI_Comm* comm, int* code, ...) {
  using namespace resprout::shim;
  using Handler = void (*)(MPI_Comm*, int*, ...);
  static const auto of_mpi =
      reinterpret_cast<Handler>(dlsym(RTLD_NEXT, "ompi_mpi_errors_are_fatal_comm_handler"));
  std::va_list more;
  va_start(more, code);
  const char* const what = va_arg(more, const char*);
  va_end(more);
  const bool is_of_request =
      comm == nullptr && what != nullptr && std::string_view(what).ends_with("after request freed");
  if (is_of_request && World::current() != nullptr && ulfm::is_active()) return;
  of_mpi(comm, code, what);
}
