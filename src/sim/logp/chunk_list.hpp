// Lists that grow at their end and are emptied as a whole, many of them out of one pool of memory.
//
// Nothing is copied when a list grows, and memory that was emptied last is filled first, while it
// is still in the cache.
//
// Invariants
//  1. A chunk is in one list or in the pool's free ones. All chunks of a list but its last are
//  full.
// Thread rule: one thread a pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/logp/slab.hpp"

namespace resprout::sim {

template <typename T>
struct Chunk {
  static constexpr std::size_t capacity = 4096 / sizeof(T);

  Chunk* after;
  alignas(T) std::byte bytes[capacity * sizeof(T)];

  T* things() { return reinterpret_cast<T*>(bytes); }
};

template <typename T>
class ChunkPool {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Chunk<T>* take() {
    if (free_ == nullptr) grow();
    return std::exchange(free_, free_->after);
  }
  void give_back(Chunk<T>* chunk) { chunk->after = std::exchange(free_, chunk); }

 private:
  // Doubles what there is, by 4 MiB at most.
  void grow() {
    const std::size_t all = std::clamp<std::size_t>(total_, 1, (4u << 20) / sizeof(Chunk<T>));
    total_ += all;
    auto& block = blocks_.emplace_back(all);
    for (std::size_t i = all; i-- > 0;) give_back(&block[i]);
  }

  std::vector<Slab<Chunk<T>>> blocks_;
  std::size_t total_ = 0;
  Chunk<T>* free_ = nullptr;
};

template <typename T>
class ChunkList {
 public:
  bool empty() const { return first_ == nullptr; }

  void push(ChunkPool<T>& pool, const T& thing) {
    if (end_ == limit_) [[unlikely]]
      append(pool);
    ::new (static_cast<void*>(end_++)) T(thing);
  }

  // Empties the list, then calls f for each thing that was in it, in order; f may push. `expect` is
  // called some things ahead, so that memory can be asked for in time.
  template <typename F, typename Expect>
  void drain(ChunkPool<T>& pool, F f, Expect expect) {
    const ChunkList all = std::exchange(*this, {});
    for (Chunk<T>* chunk = all.first_; chunk != nullptr;) {
      const T* const begin = chunk->things();
      const T* const end = chunk == all.last_ ? all.end_ : begin + Chunk<T>::capacity;
      constexpr std::ptrdiff_t ahead = 12;
      const T* thing = begin;
      for (; end - thing > ahead; ++thing) {
        expect(thing[ahead]);
        f(*thing);
      }
      for (; thing != end; ++thing) f(*thing);
      Chunk<T>* const after = chunk == all.last_ ? nullptr : chunk->after;
      pool.give_back(chunk);
      chunk = after;
    }
  }

 private:
  [[gnu::noinline]] void append(ChunkPool<T>& pool) {
    Chunk<T>* const chunk = pool.take();
    (first_ == nullptr ? first_ : last_->after) = chunk;
    last_ = chunk;
    end_ = chunk->things();
    limit_ = end_ + Chunk<T>::capacity;
  }

  T* end_ = nullptr;    // where the next thing goes
  T* limit_ = nullptr;  // the end of the last chunk
  Chunk<T>* first_ = nullptr;
  Chunk<T>* last_ = nullptr;
};

}  // namespace resprout::sim
