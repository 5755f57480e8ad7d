// Memory that two processes of one host share: one writes frames into it, the other one reads them
// there. Where they are is told otherwise, as over a socket, in the order in which they were
// written; so nobody waits on it, and nobody is woken.
//
// It is an anonymous memory file, opened through its creator's /proc/PID/fd: nothing has to be
// cleared away, however the two end. Who is on another host, or in a container of its own, cannot
// open it, or finds another key in it.
//
// Invariants
//  1. A frame lies in one piece. What it takes is free again when it was read, and all before it.
//  2. A memory that is empty is written from its beginning: it takes as many pages as there were
//     bytes unread at one time.
//
// Thread rule: one writer and one reader at a time, each in its process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "runtime/net/fd.hpp"

namespace resprout::runtime {

class FrameMemory {
 public:
  static constexpr std::uint64_t capacity = std::uint64_t{4} << 20;

  // By which the other process finds it. Plain bytes.
  struct Name {
    std::int32_t pid = 0;
    std::int32_t fd = -1;
    std::uint64_t key = 0;
  };
  // Of a frame. Plain bytes.
  struct Place {
    std::uint64_t begin = 0;  // counts on beyond the capacity
    std::uint64_t size = 0;
  };

  // `key`: nobody else's. Nothing: the system has no such memory.
  static std::optional<FrameMemory> create(std::uint64_t key);
  // Nothing: it is not there.
  static std::optional<FrameMemory> open(const Name& name);
  FrameMemory(FrameMemory&& other) noexcept
      : fd_(std::move(other.fd_)),
        header_(std::exchange(other.header_, nullptr)),
        written_(other.written_) {}
  FrameMemory& operator=(FrameMemory&&) = delete;
  ~FrameMemory();

  // REQUIRES: it was created here, and not closed.
  Name name() const;
  // The other one has it: nobody else can open it from now on.
  void close() { fd_.reset(); }

  // Writes a frame, which is `head` and then `rest`. Nothing: there is no room for it.
  std::optional<Place> write(std::span<const std::byte> head, std::span<const std::byte> rest);
  // Nothing: no frame can be there.
  std::optional<std::span<const std::byte>> at(const Place& place) const;
  // It is not looked at any more.
  void free(const Place& place);

 private:
  struct Header {
    std::uint64_t key;
    alignas(64) std::atomic<std::uint64_t> read;  // all before this place
  };

  FrameMemory(Fd fd, Header* header) : fd_(std::move(fd)), header_(header) {}
  static Header* map(const Fd& fd);
  std::byte* frames() const;

  Fd fd_;
  Header* header_;
  std::uint64_t written_ = 0;  // by this process
};

}  // namespace resprout::runtime
