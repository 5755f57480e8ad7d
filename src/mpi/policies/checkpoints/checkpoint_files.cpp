#include "mpi/policies/checkpoints/checkpoint_files.hpp"

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

namespace resprout::shim {

CheckpointFiles::CheckpointFiles(const std::string& folder, int every, int rank, int ranks,
                                 runtime::BlockDigest digest)
    : store_(folder, rank, ranks, digest),
      folder_(folder),
      every_(static_cast<std::uint64_t>(every)),
      rank_(rank) {}

void CheckpointFiles::take(const runtime::Image& image) {
  if (image.name.generation % every_ != 0) return;
  wait();
  begun_ = image.name.generation;
  std::packaged_task<int()> task([this, image] { return store_.write(image); });
  under_way_ = task.get_future();
  // The program's signals are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(std::move(task)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void CheckpointFiles::wait() {
  if (!under_way_.valid()) return;
  const int error = under_way_.get();
  if (error == 0)
    written_ = {.last = begun_, .before = written_.last};
  else
    std::fprintf(stderr, "resprout: rank %d: checkpoint %llu was not written to %s: %s\n", rank_,
                 static_cast<unsigned long long>(begun_), folder_.c_str(), std::strerror(error));
}

// Two are kept in memory: that of the one before the last is used for the next.
void CheckpointFiles::make_way(std::uint64_t generation) {
  if (begun_ + 1 < generation) wait();
}

CheckpointFiles::Written CheckpointFiles::written() {
  using std::chrono::seconds;
  if (under_way_.valid() && under_way_.wait_for(seconds(0)) == std::future_status::ready) wait();
  return written_;
}

void CheckpointFiles::count(const Written& all) {
  if (all.last > std::exchange(counted_, all.last)) store_.forget_before(all.before);
}

}  // namespace resprout::shim
