#include "runtime/buffer.hpp"

#include <array>
#include <bit>
#include <new>
#include <vector>

namespace resprout::runtime {
namespace {

constexpr std::size_t alignment = 64;
constexpr int cached_class_max = 26;
constexpr std::size_t cached_bytes_max = std::size_t{1} << cached_class_max;

std::byte* take_block(int cls) {
  return static_cast<std::byte*>(
      ::operator new(std::size_t{1} << cls, std::align_val_t{alignment}));
}
void give_back_block(std::byte* block) { ::operator delete(block, std::align_val_t{alignment}); }

// Free blocks of this thread, by the power of two that holds them. A process that loads the library
// late has room for some 1.6 KiB of variables of threads, all in all.
struct Pool {
  std::array<std::vector<std::byte*>, cached_class_max + 1> free;
  std::size_t cached_bytes = 0;
  bool is_over = false;  // the thread ends: nothing is cached any more

  ~Pool() {
    is_over = true;
    for (auto& blocks : free)
      for (std::byte* block : blocks) give_back_block(block);
  }
};

thread_local Pool pool;

int size_class(std::size_t bytes) {
  return static_cast<int>(std::bit_width((bytes < alignment ? alignment : bytes) - 1));
}

}  // namespace

void* take_pooled(std::size_t bytes) {
  const int cls = size_class(bytes);
  if (pool.is_over || cls > cached_class_max) return take_block(cls);
  auto& blocks = pool.free[static_cast<std::size_t>(cls)];
  if (blocks.empty()) return take_block(cls);
  std::byte* const block = blocks.back();
  blocks.pop_back();
  pool.cached_bytes -= std::size_t{1} << cls;
  return block;
}

void give_back_pooled(void* memory, std::size_t bytes) {
  const int cls = size_class(bytes);
  const std::size_t block_bytes = std::size_t{1} << cls;
  auto* const block = static_cast<std::byte*>(memory);
  if (!pool.is_over && pool.cached_bytes + block_bytes <= cached_bytes_max) {
    pool.free[static_cast<std::size_t>(cls)].push_back(block);
    pool.cached_bytes += block_bytes;
  } else {
    give_back_block(block);
  }
}

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  if (bytes != 0) data_ = static_cast<std::byte*>(take_pooled(bytes));
}

Buffer::Buffer(std::size_t bytes, Transport& home) {
  data_ = home.allocate_shared(bytes);
  if (data_ == nullptr) {
    *this = Buffer(bytes);
    return;
  }
  size_ = bytes;
  home_ = &home;
}

void Buffer::release() {
  if (data_ == nullptr) return;
  if (home_ != nullptr) {
    home_->free_shared(data_);
  } else {
    give_back_pooled(data_, size_);
  }
  data_ = nullptr;
  size_ = 0;
  home_ = nullptr;
}

}  // namespace resprout::runtime
