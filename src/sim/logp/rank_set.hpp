// A set of ranks that is filled in any order and emptied in ascending order.
// Thread rule: one thread.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace resprout::sim {

class RankSet {
 public:
  explicit RankSet(std::int32_t procs) : words_(static_cast<std::size_t>(procs) / 64 + 1) {}

  void insert(std::int32_t rank) {
    const auto at = static_cast<std::uint32_t>(rank);
    words_[at / 64] |= std::uint64_t{1} << (at % 64);
  }

  // Takes out all, calling f for each, lowest first; f must not insert.
  template <typename F>
  void drain(F f) {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      if (words_[at] == 0) continue;
      for (std::uint64_t word = words_[at]; word != 0; word &= word - 1)
        f(static_cast<std::int32_t>(at * 64) + std::countr_zero(word));
      words_[at] = 0;
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace resprout::sim
