// Every so many checkpoints go to files, written while the program computes, out of the memory that
// keeps them.
//
// Thread rule: the thread that calls MPI.
#pragma once

#include <cstdint>
#include <future>
#include <string>

#include "runtime/checkpoints/file_store.hpp"

namespace resprout::shim {

class CheckpointFiles {
 public:
  CheckpointFiles(const std::string& folder, int every, int rank, int ranks,
                  runtime::BlockDigest digest);

  runtime::FileStore& store() { return store_; }

  // To be called for each. `image` stays as it is until wait() has come back.
  void take(const runtime::Image& image);
  // Until what was begun is on the disk, or has failed, of which a line speaks.
  void wait();
  // As wait(), if the memory of what is being written is used for `generation` now.
  void make_way(std::uint64_t generation);
  // What this rank has written last and before that, as far as is known without waiting; 0:
  // nothing.
  struct Written {
    std::uint64_t last = 0;
    std::uint64_t before = 0;
  };
  Written written();
  // This one is there.
  void set_written(std::uint64_t generation) { written_.last = generation; }
  // Of all ranks the least. What is older than both is removed.
  void count(const Written& all);

 private:
  runtime::FileStore store_;
  const std::string folder_;
  const std::uint64_t every_;
  const int rank_;
  std::future<int> under_way_;
  std::uint64_t begun_ = 0;
  Written written_;
  std::uint64_t counted_ = 0;
};

}  // namespace resprout::shim
