// How a tree grows in which everybody who can send does so: the sequence R(t) of Corrected Trees.
//
// Corrected Trees, sections 3.2.2 and 3.2.3, equations (1) and (2). In iteration j the ranks
// 0 .. R(j)-1 are ready to send; the children they get are born(j), born(j) + 1, ... in that order.
// born(j) is R(j + k - 1) for a Lame tree and R(j + o + L) for an optimal one.
//
// Invariants
//  1. born ascends strictly, and born(j + 1) - born(j) is the number of those ready in j.
// Thread rule: a value, constant once made.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace resprout::topology {

class Growth {
 public:
  // T_t = T_{t-1} . T_{t-k}: who is born in iteration t sends from t + k on. REQUIRES: k >= 1.
  static constexpr Growth lame(std::int32_t procs, std::int64_t k) { return {procs, 1, k}; }

  // T_t = T_{t-o} . T_{t-2o-L}. REQUIRES: overhead >= 1, latency >= 0.
  //
  // Everybody starts one message within o time steps, so the paper's i runs in steps of o.
  static constexpr Growth optimal(std::int32_t procs, std::int64_t latency, std::int64_t overhead) {
    const std::int64_t unit = std::gcd(latency, overhead);
    return {procs, overhead / unit, (2 * overhead + latency) / unit};
  }

  // Whether the tables were large enough for all of `procs`; if not, this must not be used.
  constexpr bool is_complete() const { return is_complete_; }

  // The iteration in which `rank` is born. REQUIRES: 0 < rank < procs.
  constexpr std::int32_t birth(std::int32_t rank) const { return above(born_, rank) - 1; }

  // The first one born in `iteration`; more than any rank if that is after the last birth.
  constexpr std::int32_t born(std::int32_t iteration) const {
    return iteration < count_ ? born_[static_cast<std::size_t>(iteration)] : INT32_MAX;
  }

  // The first iteration in which `rank` sends. REQUIRES: 0 <= rank < procs.
  constexpr std::int32_t first_send(std::int32_t rank) const { return above(ready_, rank); }

 private:
  static constexpr std::size_t iterations_max = 512;
  static constexpr std::size_t times_max = 8192;

  // R(t) is 1 before `delay`, then R(t - step) + R(t - delay); it is asked for at multiples of
  // `step`.
  constexpr Growth(std::int32_t procs, std::int64_t step, std::int64_t delay) {
    std::array<std::int64_t, times_max> ready{};
    std::int64_t next = 1;  // to be born
    std::int64_t filled = 0;
    for (std::int64_t now = 0; next < procs; now += step) {
      if (count_ == iterations_max || now >= static_cast<std::int64_t>(times_max)) return;
      for (; filled <= now; ++filled) {
        const auto at = [&](std::int64_t time) { return ready[static_cast<std::size_t>(time)]; };
        ready[static_cast<std::size_t>(filled)] =
            filled < delay ? 1 : at(filled - step) + at(filled - delay);
      }
      born_[static_cast<std::size_t>(count_)] = static_cast<std::int32_t>(next);
      ready_[static_cast<std::size_t>(count_)] =
          static_cast<std::int32_t>(ready[static_cast<std::size_t>(now)]);
      next += ready_[static_cast<std::size_t>(count_)];
      ++count_;
    }
    is_complete_ = true;
  }

  using Table = std::array<std::int32_t, iterations_max>;

  constexpr std::int32_t above(const Table& table, std::int32_t rank) const {
    return static_cast<std::int32_t>(std::upper_bound(table.begin(), table.begin() + count_, rank) -
                                     table.begin());
  }

  Table born_{};
  Table ready_{};
  std::int32_t count_ = 0;
  bool is_complete_ = false;
};

}  // namespace resprout::topology
