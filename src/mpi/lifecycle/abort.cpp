#include "mpi/lifecycle/abort.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace resprout::shim {
namespace {

std::string name_of_process(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// A program that was started by hand has a shell for a parent; that is none of our business.
void end_launcher() {
  constexpr std::array<std::string_view, 6> launchers{"mpirun", "mpiexec", "prterun",
                                                      "prted",  "orted",   "hydra_pmi_proxy"};
  const std::string parent = name_of_process(getppid());
  for (const std::string_view launcher : launchers)
    if (parent == launcher) kill(getppid(), SIGTERM);
}

}  // namespace

void end_job(const std::vector<runtime::PeerAddress>& peers, int rank,
             const std::string& run_directory, int status, std::string line) {
  if (!line.empty()) {
    line += '\n';
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  if (!run_directory.empty()) {
    std::ofstream file(run_directory + "/abort.json");
    file << "{\"schema\":1,\"rank\":" << rank << ",\"status\":" << status << "}\n";
  }
  end_launcher();
  const auto& mine = peers[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < peers.size(); ++i)
    if (static_cast<int>(i) != rank && peers[i].is_same_host(mine)) kill(peers[i].pid, SIGKILL);
  std::_Exit(status);
}

}  // namespace resprout::shim
