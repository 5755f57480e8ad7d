// Payload memory: 64-byte aligned; of this process, recycled by size class, or shared with the
// peers of this host.
//
// Large blocks are kept too, because giving 4 MiB back to the system and asking for them again
// costs a page fault per page. At most `cached_bytes_max` lie idle per thread. Thread rule: a
// value; one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "runtime/copy.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

// Memory of this process from the same pool, for objects. REQUIRES: `bytes` as when it was taken.
void* take_pooled(std::size_t bytes);
void give_back_pooled(void* memory, std::size_t bytes);

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);  // contents are undefined
  // Shared memory of `home`, if it has any left, else memory of this process.
  Buffer(std::size_t bytes, Transport& home);
  explicit Buffer(std::span<const std::byte> contents) : Buffer(contents.size()) {
    copy_bytes(data_, contents.data(), contents.size());
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        home_(std::exchange(other.home_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      home_ = std::exchange(other.home_, nullptr);
    }
    return *this;
  }
  ~Buffer() { release(); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> view() const { return {data_, size_}; }
  bool is_shared() const { return home_ != nullptr; }

 private:
  void release();

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  Transport* home_ = nullptr;
};

}  // namespace resprout::runtime
