// Send ports that become free, in the order in which they were taken: all are busy equally long.
//
// Invariants
//  1. A rank is in it at most once, so `procs` entries are enough.
// Thread rule: one thread.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/rank.hpp"
#include "core/time.hpp"

namespace resprout::sim {

class PortQueue {
 public:
  explicit PortQueue(std::int32_t procs)
      : ranks_(std::bit_ceil(static_cast<std::size_t>(procs))), mask_(ranks_.size() - 1) {}

  // REQUIRES: `free` is not before that of the last push.
  void push(Time free, Rank rank) {
    if (batches_.empty() || batches_.back().free != free) batches_.push_back({free, end_});
    ranks_[end_++ & mask_] = rank;
    batches_.back().end = end_;
  }

  Time next() const { return begin_ == end_ ? never : batches_[front_].free; }

  // Takes out all that are free at `now`, calling f for each; f must not push.
  template <typename F>
  void drain(Time now, F f) {
    if (next() != now) return;
    const std::size_t end = batches_[front_].end;
    for (; begin_ != end; ++begin_) f(ranks_[begin_ & mask_]);
    ++front_;
    if (begin_ != end_) return;
    batches_.clear();
    front_ = 0;
  }

 private:
  struct Batch {
    Time free;
    std::size_t end;
  };
  std::vector<Rank> ranks_;  // a ring
  std::size_t mask_;         // its size, a power of two, less one
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<Batch> batches_;  // those before front_ are over
  std::size_t front_ = 0;
};

}  // namespace resprout::sim
