// Memory for large arrays: in huge pages, where the system has some.
//
// A run touches its arrays at as many places as a tree has levels, so at a million processes small
// pages cost more in translations than in misses.
// Thread rule: any thread.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace resprout::sim {

template <typename T>
struct SlabAllocator {
  using value_type = T;

  SlabAllocator() = default;
  template <typename Other>
  SlabAllocator(const SlabAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    void* const memory = ::operator new(count * sizeof(T), alignment(count));
    if (count * sizeof(T) >= huge_page) madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count)); }

  template <typename Other>
  bool operator==(const SlabAllocator<Other>&) const {
    return true;
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::align_val_t alignment(std::size_t count) {
    return std::align_val_t{count * sizeof(T) >= huge_page ? huge_page : 64};
  }
};

template <typename T>
using Slab = std::vector<T, SlabAllocator<T>>;

}  // namespace resprout::sim
