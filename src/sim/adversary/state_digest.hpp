// When two worlds are the same: 128 bits of all that is in one.
// Thread rule: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "sim/checkers/payload.hpp"

namespace resprout::sim {

// Two halves of a 64-bit hash, which take the words in differently. What is many bytes is hashed
// first, by XXH3: an exploration spends most of its time here.
class StateDigest {
 public:
  using Value = std::pair<std::uint64_t, std::uint64_t>;

  void add(std::uint64_t word) { add(word, word); }
  void add(const Payload& payload) {
    add(payload.contributors);
    add(payload.excluded);
  }
  // REQUIRES: a digest, whose halves are independent of each other.
  void add(const Value& digest) { add(digest.first, digest.second); }
  // REQUIRES: no byte of the value is padding, or it was zeroed.
  template <typename T>
  void add_bytes(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    add(hash_of(&value, sizeof(T)));
  }
  template <typename T>
  void add_all_bytes(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    add(hash_of(values.data(), values.size() * sizeof(T)));
  }
  Value value() const { return {low_, high_}; }

 private:
  static Value hash_of(const void* data, std::size_t bytes);

  void add(std::uint64_t low, std::uint64_t high) {
    low_ ^= low;
    low_ = splitmix64(low_);
    high_ += high * 0xd6e8feb86659fd93u;
    high_ = splitmix64(high_);
  }

  std::uint64_t low_ = 0x8a5cd789635d2dffu;
  std::uint64_t high_ = 0x121fd2155c472f96u;
};

}  // namespace resprout::sim
