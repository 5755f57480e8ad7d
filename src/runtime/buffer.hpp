// Payload memory: 64-byte aligned, recycled by size class.
//
// Large blocks are kept too, because giving 4 MiB back to the system and asking for them again
// costs a page fault per page. At most `cached_bytes_max` lie idle per thread. Thread rule: a value;
// one thread at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace resprout::runtime {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);  // contents are undefined
  explicit Buffer(std::span<const std::byte> contents) : Buffer(contents.size()) {
    if (!contents.empty()) std::memcpy(data_, contents.data(), contents.size());
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~Buffer() { release(); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> view() const { return {data_, size_}; }

 private:
  void release();

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace resprout::runtime
