#include "runtime/checkpoints/memory_store.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace resprout::runtime {

MappedFile::~MappedFile() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

int MappedFile::map(int file, std::size_t bytes, int protection) {
  void* at = mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return errno;
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
  memory_ = {static_cast<std::byte*>(at), bytes};
  return 0;
}

bool MappedFile::open_existing(const std::string& path) {
  return open_as(path, O_RDWR, PROT_READ | PROT_WRITE);
}

bool MappedFile::open_to_read(const std::string& path) {
  return open_as(path, O_RDONLY, PROT_READ);
}

bool MappedFile::open_as(const std::string& path, int mode, int protection) {
  const int file = open(path.c_str(), mode | O_CLOEXEC);
  if (file < 0) return false;
  struct stat found{};
  const bool is_there = fstat(file, &found) == 0 && found.st_size > 0 &&
                        map(file, static_cast<std::size_t>(found.st_size), protection) == 0;
  close(file);
  return is_there;
}

int MappedFile::make_room(const std::string& path, std::size_t bytes) {
  if (bytes <= memory_.size()) return 0;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  // Writing where there is no room ends a process by SIGBUS.
  int error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error == 0) error = map(file, bytes, PROT_READ | PROT_WRITE);
  close(file);
  return error;
}

MemoryStore::MemoryStore(const std::string& folder, const std::string& name, BlockDigest digest)
    : digest_(digest) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].path = std::string(folder).append("/").append(name).append(i == 0 ? "-a" : "-b");
    if (!slots_[i].file.open_existing(slots_[i].path)) continue;
    // Its data are looked at when they are needed: that takes as long as a copy of them.
    if (const auto image = read_head(slots_[i].file.memory(), digest_))
      slots_[i].generation = image->name.generation;
    slots_[i].is_checked = false;
  }
}

std::vector<Image> MemoryStore::kept() const {
  std::vector<Image> found;
  for (const Slot& slot : slots_)
    if (slot.generation > 0) found.push_back(view_image(slot.file.memory()));
  return found;
}

int MemoryStore::begin(std::size_t bytes, std::uint64_t needed, std::span<std::byte>& into) {
  const bool has_in_first = needed > 0 && slots_[0].generation == needed;
  const bool has_both = has_in_first && slots_[1].generation == needed;
  newest_ = has_both ? 1 - newest_ : (has_in_first ? 1 : 0);
  Slot& slot = slots_[newest_];
  slot.generation = 0;
  slot.is_checked = true;  // it will be this process that has written it
  if (const int error = slot.file.make_room(slot.path, bytes)) return error;
  into = slot.file.memory().first(bytes);
  spoil_image(into);
  return 0;
}

void MemoryStore::finish(std::span<const std::byte> head) {
  Slot& slot = slots_[newest_];
  std::memcpy(slot.file.memory().data(), head.data(), head.size());
  slot.generation = newest().name.generation;
}

int MemoryStore::keep(const ImageName& name, ConstRegions regions, std::uint64_t needed) {
  std::span<std::byte> into;
  if (const int error = begin(image_bytes(regions), needed, into)) return error;
  write_image(into, name, regions, digest_);
  slots_[newest_].generation = name.generation;
  return 0;
}

void MemoryStore::choose(std::uint64_t generation) {
  newest_ = slots_[0].generation == generation ? 0 : 1;
}

std::optional<Image> MemoryStore::find(std::uint64_t generation) {
  for (Slot& slot : slots_) {
    if (slot.generation != generation) continue;
    if (!slot.is_checked && !read_image(slot.file.memory(), digest_)) {
      slot.generation = 0;
      continue;
    }
    slot.is_checked = true;
    return view_image(slot.file.memory());
  }
  return std::nullopt;
}

}  // namespace resprout::runtime
