#include "runtime/lanes.hpp"

#include <poll.h>
#include <unistd.h>

#include "runtime/lifeline/process.hpp"

namespace resprout::runtime {
namespace {

struct Signature {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0;
};

}  // namespace

Lanes::Lanes(int self, std::vector<std::byte*> areas) : self_(self), areas_(std::move(areas)) {}

void Lanes::sign() {
  const auto status = process_status(getpid());
  const Signature signature{getpid(), status ? status->start_time : 0};
  std::memcpy(area(self_), &signature, sizeof signature);
}

// The event of a pidfd is the end of all its threads; the process that /proc shows as a zombie may
// still have some.
bool Lanes::has_ended(int member) const {
  Signature signature;
  std::memcpy(&signature, area(member), sizeof signature);
  const auto pid = static_cast<pid_t>(signature.pid);
  const Fd process = open_process(pid);
  const auto status = process_status(pid);
  if (!status || status->start_time != signature.start_time) return true;
  if (!process.is_open()) return status->has_ended();
  pollfd entry{process.get(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

}  // namespace resprout::runtime
