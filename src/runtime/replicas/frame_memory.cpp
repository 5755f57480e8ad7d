#include "runtime/replicas/frame_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace resprout::runtime {
namespace {

constexpr std::size_t header_bytes = 4096;
constexpr std::size_t file_bytes = header_bytes + FrameMemory::capacity;
constexpr std::uint64_t line = 64;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

bool fits(std::uint64_t begin, std::uint64_t size) {
  return size <= FrameMemory::capacity &&
         begin % FrameMemory::capacity + size <= FrameMemory::capacity;
}

}  // namespace

FrameMemory::Header* FrameMemory::map(const Fd& fd) {
  void* memory = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, file_bytes, MADV_DONTDUMP);
  return static_cast<Header*>(memory);  // a new file is all zero
}

std::optional<FrameMemory> FrameMemory::create(std::uint64_t key) {
  rlimit largest{};  // a larger file would end this process
  if (getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur < file_bytes) return std::nullopt;
  Fd fd(memfd_create("resprout-frames", MFD_CLOEXEC));
  if (!fd.is_open() || ftruncate(fd.get(), file_bytes) != 0) return std::nullopt;
  Header* header = map(fd);
  if (header == nullptr) return std::nullopt;
  header->key = key;
  return FrameMemory(std::move(fd), header);
}

std::optional<FrameMemory> FrameMemory::open(const Name& name) {
  const std::string path = "/proc/" + std::to_string(name.pid) + "/fd/" + std::to_string(name.fd);
  const Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  const bool may_be_it = fd.is_open() && fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                         status.st_size == static_cast<off_t>(file_bytes);
  Header* header = may_be_it ? map(fd) : nullptr;
  if (header == nullptr) return std::nullopt;
  std::optional<FrameMemory> memory(FrameMemory(Fd(), header));
  if (header->key != name.key) memory.reset();
  return memory;
}

FrameMemory::~FrameMemory() {
  if (header_ != nullptr) munmap(header_, file_bytes);
}

FrameMemory::Name FrameMemory::name() const { return {getpid(), fd_.get(), header_->key}; }

std::byte* FrameMemory::frames() const {
  return reinterpret_cast<std::byte*>(header_) + header_bytes;
}

std::optional<FrameMemory::Place> FrameMemory::write(std::span<const std::byte> head,
                                                     std::span<const std::byte> rest) {
  const std::uint64_t size = head.size() + rest.size();
  if (size > capacity) return std::nullopt;
  std::uint64_t read = header_->read.load(std::memory_order_acquire);
  const bool is_empty = read == written_;
  const Place place{is_empty || !fits(written_, size) ? round_up(written_, capacity) : written_,
                    size};
  // The reader does not touch it before it has heard of the frame.
  if (is_empty) header_->read.store(read = place.begin, std::memory_order_relaxed);
  const std::uint64_t end = round_up(place.begin + size, line);
  if (is_empty) written_ = place.begin;
  if (end - read > capacity) return std::nullopt;
  std::byte* to = frames() + place.begin % capacity;
  if (!head.empty()) std::memcpy(to, head.data(), head.size());
  if (!rest.empty()) std::memcpy(to + head.size(), rest.data(), rest.size());
  written_ = end;
  return place;
}

std::optional<std::span<const std::byte>> FrameMemory::at(const Place& place) const {
  if (!fits(place.begin, place.size)) return std::nullopt;
  return std::span<const std::byte>(frames() + place.begin % capacity, place.size);
}

void FrameMemory::free(const Place& place) {
  header_->read.store(round_up(place.begin + place.size, line), std::memory_order_release);
}

}  // namespace resprout::runtime
