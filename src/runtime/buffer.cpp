#include "runtime/buffer.hpp"

#include <array>
#include <bit>
#include <new>
#include <vector>

namespace resprout::runtime {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t cached_bytes_max = std::size_t{64} << 20;

// Free blocks of this thread, by the power of two that holds them. Never destroyed: buffers may
// outlive the thread's other variables.
struct Pool {
  std::array<std::vector<std::byte*>, 64> free;
  std::size_t cached_bytes = 0;
};

Pool& pool() {
  thread_local Pool* const instance = new Pool;
  return *instance;
}

int size_class(std::size_t bytes) {
  return static_cast<int>(std::bit_width((bytes < alignment ? alignment : bytes) - 1));
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const int cls = size_class(bytes);
  auto& blocks = pool().free[static_cast<std::size_t>(cls)];
  if (!blocks.empty()) {
    data_ = blocks.back();
    blocks.pop_back();
    pool().cached_bytes -= std::size_t{1} << cls;
    return;
  }
  data_ = static_cast<std::byte*>(
      ::operator new(std::size_t{1} << cls, std::align_val_t{alignment}));
}

void Buffer::release() {
  if (data_ == nullptr) return;
  const int cls = size_class(size_);
  const std::size_t bytes = std::size_t{1} << cls;
  if (pool().cached_bytes + bytes <= cached_bytes_max) {
    pool().free[static_cast<std::size_t>(cls)].push_back(data_);
    pool().cached_bytes += bytes;
  } else {
    ::operator delete(data_, std::align_val_t{alignment});
  }
  data_ = nullptr;
  size_ = 0;
}

}  // namespace resprout::runtime
