// How a tree grows in which everybody who can send does so: Lame and optimal trees.
//
// Corrected Trees, sections 3.2.2 and 3.2.3; Karp et al., "Optimal Broadcast and Summation in the
// LogP Model" (SPAA 1993). Who is reached at t is sent on from t, t + spacing, t + 2 spacing, ...
// and a send that starts at t reaches its receiver at t + hop. Ranks are given in the order of
// time; among those reached at one time, in the order of their parents. So each rank is reached as
// early as any process could be: no tree is faster. A Lame tree of order k has spacing 1 and hop k.
//
// A generation is all who are reached at one time, and its ranks are consecutive. The parents of a
// generation that was sent at t are all who were reached at t, t - spacing, t - 2 spacing, ...:
// those of one class of times modulo the spacing. Where the spacing divides the hop there is one
// class, and the parents are all ranks below some R(t), the paper's sequence.
//
// Invariants
//  1. Generations ascend in time and in rank; the root, 0, is the first one.
//  2. The parents of a generation, in ascending order, are all of its class of senders up to the
//     time of sending.
// Thread rule: a value, constant once made.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace resprout::topology {

class Growth {
 public:
  // T_t = T_{t-1} . T_{t-k}: who is born in iteration t sends from t + k on. REQUIRES: k >= 1.
  static constexpr Growth lame(std::int32_t procs, std::int64_t k) { return {procs, 1, k}; }

  // T_t = T_{t-s} . T_{t-2o-L}, where s is the larger one of o and g. REQUIRES: overhead >= 1;
  // latency, gap >= 0.
  static constexpr Growth optimal(std::int32_t procs, std::int64_t latency, std::int64_t overhead,
                                  std::int64_t gap = 0) {
    return {procs, std::max(overhead, gap), 2 * overhead + latency};
  }

  // Whether the tables were large enough for all of `procs`; if not, this must not be used.
  constexpr bool is_complete() const { return is_complete_; }

  // When `rank` is reached, and sends for the first time. REQUIRES: 0 <= rank < procs.
  constexpr std::int64_t first_send(std::int32_t rank) const { return own(rank).reached; }

  // The i-th that `rank` sends to, from 0 on; -1, or procs or more, if there are fewer.
  // REQUIRES: 0 <= rank < procs; i >= 0.
  constexpr std::int64_t child(std::int32_t rank, std::int32_t i) const;

  // REQUIRES: 0 < rank < procs.
  constexpr std::int32_t parent(std::int32_t rank) const;

 private:
  static constexpr std::size_t generations_max = 1024;

  struct Generation {
    std::int64_t reached;  // the time
    std::int32_t first;    // its lowest rank
    std::int32_t before;   // how many of its class were reached earlier
  };

  constexpr Growth(std::int32_t procs, std::int64_t spacing, std::int64_t hop)
      : spacing_(spacing), hop_(hop) {
    is_complete_ = grow(procs);
  }

  constexpr bool grow(std::int32_t procs);
  constexpr void sort_by_class();
  // How many generations come before the first one, in the order of by_class_, for which
  // precedes(generation) is false.
  template <typename Precedes>
  constexpr std::int32_t place(Precedes precedes) const;

  constexpr std::int64_t class_of(std::int64_t time) const { return time % spacing_; }
  constexpr const Generation& own(std::int32_t rank) const {
    const auto* const behind =
        std::upper_bound(by_time_.begin(), by_time_.begin() + count_, rank,
                         [](std::int32_t a, const Generation& b) { return a < b.first; });
    return behind[-1];
  }

  std::array<Generation, generations_max> by_time_{};
  std::array<std::uint16_t, generations_max> by_class_{};  // their numbers; in a class by time
  std::int64_t spacing_;
  std::int64_t hop_;
  std::int32_t count_ = 0;
  bool is_complete_ = false;
};

// What is sent at t is sent by those who were sending at t - spacing and by those reached at t. So
// times of sending follow each other like numbers made of two factors: the next one is a spacing
// after one of them, or a hop. False: the table is too small.
constexpr bool Growth::grow(std::int32_t procs) {
  std::array<std::int64_t, generations_max> senders{};  // by generation: who sent to it
  by_time_[0] = {0, 0, 0};
  count_ = 1;
  // What is due next: from those who sent to generation `again`, and from generation `fresh`.
  std::size_t again = 1;
  std::size_t fresh = 0;
  for (std::int64_t next = 1; next < procs; ++count_) {
    if (count_ == static_cast<std::int32_t>(generations_max)) return false;
    const auto here = static_cast<std::size_t>(count_);
    const std::int64_t from_fresh = by_time_[fresh].reached;
    const std::int64_t from_again =
        again < here ? by_time_[again].reached - hop_ + spacing_ : INT64_MAX;
    const std::int64_t sent = std::min(from_fresh, from_again);
    std::int64_t count = 0;
    if (from_again == sent) count += senders[again++];
    if (from_fresh == sent) {
      by_time_[fresh].before = static_cast<std::int32_t>(count);
      const std::int64_t end = fresh + 1 < here ? by_time_[fresh + 1].first : next;
      count += end - by_time_[fresh++].first;
    }
    by_time_[here] = {sent + hop_, static_cast<std::int32_t>(next), 0};
    senders[here] = count;
    next += count;
  }
  sort_by_class();
  return true;
}

constexpr void Growth::sort_by_class() {
  const auto end = by_class_.begin() + count_;
  std::iota(by_class_.begin(), end, std::uint16_t{0});
  std::sort(by_class_.begin(), end, [this](std::uint16_t a, std::uint16_t b) {
    const std::int64_t class_a = class_of(by_time_[a].reached);
    const std::int64_t class_b = class_of(by_time_[b].reached);
    return class_a != class_b ? class_a < class_b : a < b;
  });
}

template <typename Precedes>
constexpr std::int32_t Growth::place(Precedes precedes) const {
  const auto* const begin = by_class_.begin();
  return static_cast<std::int32_t>(
      std::partition_point(begin, begin + count_,
                           [&](std::uint16_t at) { return precedes(by_time_[at]); }) -
      begin);
}

constexpr std::int64_t Growth::child(std::int32_t rank, std::int32_t i) const {
  const Generation& parents = own(rank);
  const std::int64_t first = parents.reached + hop_;
  const std::int64_t wanted = class_of(first);
  const std::int64_t at = i + std::int64_t{place([&](const Generation& other) {
                            const std::int64_t its = class_of(other.reached);
                            return its != wanted ? its < wanted : other.reached < first;
                          })};
  if (at >= count_) return -1;
  const Generation& children = by_time_[by_class_[static_cast<std::size_t>(at)]];
  if (children.reached != first + i * spacing_) return -1;
  return std::int64_t{children.first} + parents.before + (rank - parents.first);
}

constexpr std::int32_t Growth::parent(std::int32_t rank) const {
  const Generation& children = own(rank);
  const std::int64_t sent = children.reached - hop_;
  const std::int64_t wanted = class_of(sent);
  const std::int32_t number = rank - children.first;  // of the sender among all of them
  const std::int32_t behind = place([&](const Generation& other) {
    const std::int64_t its = class_of(other.reached);
    return its != wanted ? its < wanted : other.reached <= sent && other.before <= number;
  });
  const Generation& parents = by_time_[by_class_[static_cast<std::size_t>(behind - 1)]];
  return parents.first + (number - parents.before);
}

}  // namespace resprout::topology
