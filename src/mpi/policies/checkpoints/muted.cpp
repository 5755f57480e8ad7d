#include "mpi/policies/checkpoints/muted.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace resprout::shim {
namespace {

int muted(int descriptor) {
  const int kept = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (kept >= 0 && nowhere >= 0) dup2(nowhere, descriptor);
  if (nowhere >= 0) close(nowhere);
  return kept;
}

void restore(int descriptor, int kept) {
  if (kept < 0) return;
  dup2(kept, descriptor);
  close(kept);
}

}  // namespace

// What the program has written before is said, what it writes meanwhile is not: each is flushed to
// where it belongs.
Muted::Muted() {
  std::fflush(nullptr);
  stdout_ = muted(STDOUT_FILENO);
  stderr_ = muted(STDERR_FILENO);
}

Muted::~Muted() {
  std::fflush(nullptr);
  restore(STDOUT_FILENO, stdout_);
  restore(STDERR_FILENO, stderr_);
}

}  // namespace resprout::shim
