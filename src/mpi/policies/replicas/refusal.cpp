#include "mpi/policies/replicas/refusal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

// Whoever ends the job may end the one that speaks.
void wait_until_said(const std::string& note) {
  constexpr int milliseconds_max = 5000;  // it may be dead
  struct stat status{};
  for (int i = 0; i < milliseconds_max; ++i) {
    if (stat(note.c_str(), &status) == 0 && status.st_size > 0) return;
    usleep(1000);
  }
}

}  // namespace

void refuse_unverifiable(const char* call, const char* why) {
  const Options& options = World::current()->options();
  if (!options.stands_in())
    refuse_call(call, why,
                "so it cannot be verified; run it with --verify none, or without --replicas");
  refuse_call(call, why,
              options.verify
                  ? "so replicas cannot stand in for each other, nor be verified; run it with "
                    "--on-replica-loss end-plane and --verify none"
                  : "so replicas cannot stand in for each other; run it with --on-replica-loss "
                    "end-plane");
}

void refuse_call(const char* call, const char* why, const char* remedy) {
  const World& world = *World::current();
  // One rank speaks for all that get here, if they share the folder, and `resprout run` for all
  // planes: what a rank says on stderr is not shown where another replica of it is ahead.
  const std::string note = world.options().run_directory + "/refused";
  const int file = open(note.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    wait_until_said(note);
  } else {
    dprintf(file, "rank %d: %s %s, %s\n", world.rank(), call, why, remedy);
    close(file);
  }
  World::current()->end_job(2, "");
  for (;;) pause();
}

}  // namespace resprout::shim
