// Hands out blocks of one stretch of memory, lowest address that fits first, so that pages which
// were touched once are used again. What is free is known to the owner only, outside the memory.
//
// Thread rule: one owner, under its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>

namespace resprout::runtime {

class Arena {
 public:
  Arena(std::byte* base, std::size_t bytes) : base_(base), bytes_(bytes) {
    if (bytes != 0) free_[0] = bytes;
  }

  // 64-byte aligned; null if no stretch is long enough.
  std::byte* allocate(std::size_t bytes) {
    const std::size_t length = ((bytes == 0 ? 1 : bytes) + 63) & ~std::size_t{63};
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second < length) continue;
      const auto [offset, found] = *it;
      free_.erase(it);
      if (found > length) free_[offset + length] = found - length;
      used_[offset] = length;
      return base_ + offset;
    }
    return nullptr;
  }

  // REQUIRES: `block` came from `allocate` and was not freed.
  void free(std::byte* block) {
    const auto used = used_.find(static_cast<std::size_t>(block - base_));
    auto [offset, length] = *used;
    used_.erase(used);
    const auto next = free_.find(offset + length);
    if (next != free_.end()) {
      length += next->second;
      free_.erase(next);
    }
    const auto after = free_.lower_bound(offset);
    if (after != free_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += length;
        return;
      }
    }
    free_[offset] = length;
  }

  bool contains(std::span<const std::byte> data) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(data.data());
    const auto base = reinterpret_cast<std::uintptr_t>(base_);
    return begin >= base && begin - base <= bytes_ && data.size() <= bytes_ - (begin - base);
  }
  std::size_t offset_of(const std::byte* at) const { return static_cast<std::size_t>(at - base_); }

 private:
  std::byte* base_;
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> free_;  // offset -> length, never two adjacent
  std::map<std::size_t, std::size_t> used_;
};

}  // namespace resprout::runtime
