// Becomes a rank's program: same process, same id, which it leaves for the report.
//
//   resprout_start PRELOAD PROGRAM [ARG]...
//
// PRELOAD is the value of LD_PRELOAD for the program, maybe empty; mpirun has another one. The
// environment stays as it is, whatever its names are: a shell would drop those that are no
// identifiers of its own, exported functions among them. The runtimes of sanitizers come first.
// Replicas that are to get the same answers of the system get the same addresses, too.
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/start/sanitizers.hpp"

namespace {

// As shells have it.
constexpr int cannot_be_run = 126;
constexpr int not_found = 127;

const char* own_rank() {
  constexpr const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
  for (const char* name : names)
    if (const char* rank = std::getenv(name)) return rank;
  return "";
}

// A name in the run directory. False: there is no such folder on this host.
bool make_name(char (&path)[PATH_MAX], const char* name, const char* rank = "") {
  const char* directory = std::getenv("RESPROUT_RUN_DIR");
  struct stat status;
  if (directory == nullptr || stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
    return false;
  const int length = std::snprintf(path, sizeof path, "%s/%s%s", directory, name, rank);
  return length > 0 && static_cast<std::size_t>(length) < sizeof path;
}

void leave_id(const char* rank) {
  char path[PATH_MAX];
  if (!make_name(path, "started-", rank)) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return;
  dprintf(file, "%d\n", static_cast<int>(getpid()));
  close(file);
}

void read_from(const char* path) {
  const int file = open(path, O_RDONLY);
  if (file < 0 || file == STDIN_FILENO) return;
  dup2(file, STDIN_FILENO);
  close(file);
}

// The launcher's pipe reaches rank 0.
void take_input(const char* rank) {
  char path[PATH_MAX];
  struct stat status;
  const bool is_first = std::strcmp(rank, "0") == 0;
  if (is_first && make_name(path, "stdin") && stat(path, &status) == 0 && S_ISFIFO(status.st_mode))
    read_from(path);
  else if (make_name(path, "no-stdin") && stat(path, &status) == 0)
    read_from("/dev/null");
}

// Whose all this is: another job that a rank starts may get a copy of it
// (src/mpi/process/environment.hpp).
void name_process() {
  const bool has_pmix = std::getenv("PMIX_NAMESPACE") != nullptr;
  const char* job = std::getenv(has_pmix ? "PMIX_NAMESPACE" : "PMI_JOBID");
  const char* rank = std::getenv(has_pmix ? "PMIX_RANK" : "PMI_RANK");
  char name[1024];
  std::snprintf(name, sizeof name, "%s.%s", job == nullptr ? "" : job, rank == nullptr ? "" : rank);
  setenv("RESPROUT_PROCESS", name, 1);
}

// Where the system lets us.
void keep_addresses() {
  const char* system = std::getenv("RESPROUT_SYSTEM");
  if (system == nullptr || std::strncmp(system, "decided:", 8) != 0) return;
  const int before = personality(0xffffffff);
  if (before != -1) personality(static_cast<unsigned>(before) | ADDR_NO_RANDOMIZE);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: resprout_start PRELOAD PROGRAM [ARG]...\n", stderr);
    return 2;
  }
  const char* rank = own_rank();
  leave_id(rank);
  take_input(rank);
  name_process();
  keep_addresses();
  if (*words[1] != 0) {
    using namespace resprout::launcher;
    const auto preload = with_sanitizers_first(words[1], sanitizers_of(file_of(words[2])));
    setenv("LD_PRELOAD", preload.c_str(), 1);
  }
  execvp(words[2], words + 2);
  const int error = errno;
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  std::fprintf(stderr, "resprout: rank %s on %s: %s cannot be run: %s\n", rank, host, words[2],
               std::strerror(error));
  return error == ENOENT ? not_found : cannot_be_run;
}
