#include "shim/replication/refusal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "shim/world.hpp"

namespace resprout::shim {

void refuse_unverifiable(const char* call, const char* why) {
  const World& world = *World::current();
  // One rank speaks for all that get here, if they share the folder.
  const std::string said = world.options().run_directory + "/refused";
  if (open(said.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) >= 0)
    std::fprintf(
        stderr,
        "resprout: rank %d: %s %s, so it cannot be verified; run it with --verify none, or "
        "without --replicas\n",
        world.rank(), call, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
  for (;;) pause();
}

}  // namespace resprout::shim
