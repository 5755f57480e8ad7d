// What is to happen, by time: near things in a wheel of slots, far ones in a sorted map.
//
// Invariants
//  1. Nothing is older than the time of the last drain.
//  2. Things of one time come out in the order in which they went in.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "core/time.hpp"

namespace resprout::sim {

template <typename T>
class TimeWheel {
 public:
  // REQUIRES: `span` >= 1: how far ahead of now most things are.
  explicit TimeWheel(Duration span)
      : slots_(std::bit_ceil(static_cast<std::size_t>(std::clamp<Duration>(span, 63, 4095) + 1))),
        occupied_(slots_.size() / 64),
        mask_(slots_.size() - 1) {}

  // REQUIRES: now <= at; `now` never goes back.
  void push(Time now, Time at, const T& thing) {
    if (at - now > static_cast<Duration>(mask_)) {
      far_[at.ticks].push_back(thing);
      return;
    }
    auto& slot = slots_[slot_of(at)];
    if (slot.empty()) occupied_[slot_of(at) / 64] |= std::uint64_t{1} << (slot_of(at) % 64);
    slot.push_back(thing);
  }

  // The time of the first thing, `never` if there is none. REQUIRES: as push, nothing is before
  // now.
  Time next(Time now) const {
    const Time near = next_near(now);
    return far_.empty() ? near : std::min(near, Time{far_.begin()->first});
  }

  // Takes out all things of time `now`, calling f for each; f may push later things. `expect` is
  // called some things ahead, so that memory can be asked for in time.
  template <typename F, typename Expect>
  void drain(Time now, F f, Expect expect) {
    // What was far away when it was pushed was pushed before what was near.
    if (!far_.empty() && far_.begin()->first == now.ticks) {
      for (const T& thing : far_.begin()->second) f(thing);
      far_.erase(far_.begin());
    }
    auto& slot = slots_[slot_of(now)];
    if (slot.empty()) return;
    constexpr std::size_t ahead = 12;
    const T* const things = slot.data();
    const std::size_t count = slot.size();
    const std::size_t announced = count > ahead ? count - ahead : 0;
    for (std::size_t i = 0; i < announced; ++i) {
      expect(things[i + ahead]);
      f(things[i]);
    }
    for (std::size_t i = announced; i < count; ++i) f(things[i]);
    slot.clear();
    occupied_[slot_of(now) / 64] &= ~(std::uint64_t{1} << (slot_of(now) % 64));
  }

  template <typename F>
  void drain(Time now, F f) {
    drain(now, f, [](const T&) {});
  }

 private:
  std::size_t slot_of(Time at) const { return static_cast<std::size_t>(at.ticks) & mask_; }

  Time next_near(Time now) const {
    const std::size_t begin = slot_of(now);
    for (std::size_t i = 0; i <= occupied_.size(); ++i) {
      const std::size_t at = (begin / 64 + i) % occupied_.size();
      std::uint64_t word = occupied_[at];
      if (i == 0) word &= ~std::uint64_t{0} << (begin % 64);
      if (word == 0) continue;
      const std::size_t slot = at * 64 + static_cast<std::size_t>(std::countr_zero(word));
      return now + static_cast<Duration>((slot - begin) & mask_);
    }
    return never;
  }

  std::vector<std::vector<T>> slots_;
  std::vector<std::uint64_t> occupied_;  // one bit a slot
  std::size_t mask_;                     // a power of two, less one
  std::map<std::int64_t, std::vector<T>> far_;
};

}  // namespace resprout::sim
