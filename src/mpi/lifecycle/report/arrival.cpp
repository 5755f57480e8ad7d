#include "mpi/lifecycle/report/arrival.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mpi/process/environment.hpp"

namespace resprout::shim {
namespace {

// Empty: there is none, or it is that of another job. Kept from the first call on, as MPI_Init
// takes the variable away.
std::string in_run_directory(const std::string& name) {
  static const auto* const directory = [] {
    const char* found = is_of_other_job() ? nullptr : std::getenv("RESPROUT_RUN_DIR");
    return new std::string(found == nullptr ? "" : found);
  }();
  return directory->empty() ? std::string() : *directory + "/" + name;
}

void leave(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
}

}  // namespace

void note_entered() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  const std::string path =
      rank == nullptr ? std::string() : in_run_directory("entered-" + std::string(rank));
  if (!path.empty()) leave(path);
}

void note_lost(int rank) {
  const std::string starting = in_run_directory("starting");
  if (starting.empty() || access(starting.c_str(), F_OK) != 0) return;
  leave(in_run_directory("missed-" + std::to_string(rank)));
}

void note_all_in() {
  const std::string path = in_run_directory("starting");
  if (!path.empty()) unlink(path.c_str());
}

}  // namespace resprout::shim
