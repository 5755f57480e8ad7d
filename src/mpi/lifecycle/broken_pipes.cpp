#include "mpi/lifecycle/broken_pipes.hpp"

#include <signal.h>

namespace resprout::shim {

// A handler, and not SIG_IGN, which exec would pass on.
void bear_broken_pipes() {
  struct sigaction before{};
  if (sigaction(SIGPIPE, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace resprout::shim
