// Where a rank keeps its parts of checkpoints: two files in a folder of shared memory, which
// outlive the process. A new part is written over the one that nobody needs, so that a process that
// dies in the middle leaves the one before whole.
//
// Thread rule: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoints/image.hpp"

namespace resprout::runtime {

// A file that is mapped, and as long as is needed.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Maps the file at its length, to read and write it. False: there is none.
  bool open_existing(const std::string& path);
  // Maps the file at its length, to read it. False: there is none.
  bool open_to_read(const std::string& path);
  // At least so long, made if it is not there. 0, or errno; then what was mapped before still is.
  int make_room(const std::string& path, std::size_t bytes);

  std::span<std::byte> memory() const { return memory_; }

 private:
  int map(int file, std::size_t bytes, int protection);
  bool open_as(const std::string& path, int mode, int protection);

  std::span<std::byte> memory_;
};

class MemoryStore {
 public:
  // `name`: of the files.
  MemoryStore(const std::string& folder, const std::string& name, BlockDigest digest);

  // Those that were kept, by this process and by those before it. Nobody has looked whether their
  // data are damaged.
  std::vector<Image> kept() const;
  // Keeps what the regions have. 0; or errno, nothing was kept: there is no room. What kept() has
  // given of `needed`, a generation, stays as it is, and nothing else; of two of them the newest.
  int keep(const ImageName& name, ConstRegions regions, std::uint64_t needed);
  // What was kept last, not looked at anew. REQUIRES: keep() or finish() has done so.
  Image newest() const { return view_image(slots_[newest_].file.memory()); }

  // In two steps, for images from elsewhere: room for so many bytes, to be written by the caller;
  // until finish() there is no image. 0 or errno, as keep().
  int begin(std::size_t bytes, std::uint64_t needed, std::span<std::byte>& into);
  // The caller has written it, but for the head. REQUIRES: begin().
  void finish(std::span<const std::byte> head);
  // It is the newest from here on. REQUIRES: kept() has it.
  void choose(std::uint64_t generation);
  // Nothing: it is not here, or it is damaged. What an earlier process has written is looked at for
  // the first time.
  std::optional<Image> find(std::uint64_t generation);

 private:
  struct Slot {
    std::string path;
    MappedFile file;
    std::uint64_t generation = 0;  // 0: nothing, or it is not known what
    bool is_checked = true;        // that it is not damaged
  };

  const BlockDigest digest_;
  std::array<Slot, 2> slots_;
  std::size_t newest_ = 0;
};

}  // namespace resprout::runtime
