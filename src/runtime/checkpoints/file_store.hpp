// A rank's parts of checkpoints in files, in a folder that outlives the job:
// checkpoint-GENERATION.rank-RANK-of-RANKS, each the image as it stands.
//
// A file is written under another name, and is on the disk before it has its own.
// Thread rule: one thread at a time; write() may be another one's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checkpoints/image.hpp"
#include "runtime/checkpoints/memory_store.hpp"

namespace resprout::runtime {

class FileStore {
 public:
  FileStore(std::string folder, int rank, int ranks, BlockDigest digest);

  // Those that are whole; the images stay as long as this does.
  std::vector<Image> find();
  // 0, or errno: nothing was written.
  int write(const Image& image) const;
  // Files of older ones are removed.
  void forget_before(std::uint64_t generation) const;

 private:
  std::string path_of(std::uint64_t generation) const;
  std::vector<std::uint64_t> generations() const;

  const std::string folder_;
  const std::string suffix_;
  const BlockDigest digest_;
  std::vector<std::unique_ptr<MappedFile>> open_;
};

}  // namespace resprout::runtime
