// Where the MPI library finds no way on, as with a message whose sender is no member of its
// communicator (a loss in the making of communicators may lead to that), it ends the process by
// PMIx_Abort. Where the job is to outlive losses that waits for ever, and so does everybody else
// for this process. So it dies, for that is something that the others go on without.
//
// Thread rule: from any thread.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

extern "C" int ompi_rte_abort(int status, const char* format, ...) {
  using namespace resprout::shim;
  std::array<char, 256> why{};
  if (format != nullptr) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(why.data(), why.size(), format, arguments);
    va_end(arguments);
  }
  const World* world = World::current();
  if (world != nullptr && ulfm::is_active()) {
    std::fprintf(stderr, "resprout: rank %d: the MPI library has given up this process: %s\n",
                 world->rank(), why[0] != 0 ? why.data() : "it did not say why");
    kill(getpid(), SIGKILL);
  }
  using Abort = int (*)(int, const char*, ...);
  static const auto abort_as_mpi = reinterpret_cast<Abort>(dlsym(RTLD_NEXT, "ompi_rte_abort"));
  return abort_as_mpi(status, "%s", why.data());
}
