#include "runtime/lane_memory.hpp"

#include <poll.h>
#include <unistd.h>

#include "runtime/pulses/process.hpp"

namespace resprout::runtime {
namespace {

struct Signature {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0;
};

}  // namespace

LaneMemory::LaneMemory(int self, std::vector<std::byte*> areas)
    : self_(self), areas_(std::move(areas)) {}

void LaneMemory::sign() {
  const auto status = process_status(getpid());
  const Signature signature{getpid(), status ? status->start_time : 0};
  std::memcpy(areas_[static_cast<std::size_t>(self_)], &signature, sizeof signature);
}

// The event of a pidfd is the end of all its threads; the process that /proc shows as a zombie may
// still have some.
bool LaneMemory::has_ended(int member) const {
  Signature signature;
  std::memcpy(&signature, areas_[static_cast<std::size_t>(member)], sizeof signature);
  const auto pid = static_cast<pid_t>(signature.pid);
  const Fd process = open_process(pid);
  const auto status = process_status(pid);
  if (!status || status->start_time != signature.start_time) return true;
  if (!process.is_open()) return status->has_ended();
  pollfd entry{process.get(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

}  // namespace resprout::runtime
