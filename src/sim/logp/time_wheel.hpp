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
#include "sim/logp/chunk_list.hpp"

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
    if (!is_near(now, at)) [[unlikely]] {
      push_far(at, thing);
      return;
    }
    occupied_[slot_of(at) / 64] |= std::uint64_t{1} << (slot_of(at) % 64);
    slots_[slot_of(at)].push(pool_, thing);
  }

  // For those who push many things of one time: `push` without looking for the place.
  // REQUIRES: time() is that of the things; nobody else pushes any until `close`.
  class Writer {
   public:
    Time time() const { return time_; }
    void push(const T& thing) { list_.push(*pool_, thing); }

   private:
    friend TimeWheel;
    Time time_ = never;
    ChunkList<T> list_;
    ChunkPool<T>* pool_ = nullptr;
  };

  // Writes nothing, its time is `never`, if `at` is too far ahead. REQUIRES: as push.
  Writer writer(Time now, Time at) {
    Writer writer;
    if (!is_near(now, at)) return writer;
    writer.time_ = at;
    writer.list_ = slots_[slot_of(at)];
    writer.pool_ = &pool_;
    return writer;
  }
  void close(const Writer& writer) {
    if (writer.time_ == never || writer.list_.empty()) return;
    occupied_[slot_of(writer.time_) / 64] |= std::uint64_t{1} << (slot_of(writer.time_) % 64);
    slots_[slot_of(writer.time_)] = writer.list_;
  }

  // The time of the first thing, `never` if there is none. REQUIRES: as push, nothing is before
  // now.
  Time next(Time now) const {
    const Time near = next_near(now);
    return far_.empty() ? near : std::min(near, Time{far_.begin()->first});
  }

  // Takes out all things of time `now`, calling f for each; f may push. `expect` is called some
  // things ahead, so that memory can be asked for in time. Whether there was anything.
  template <typename F, typename Expect>
  bool drain(Time now, F f, Expect expect) {
    bool is_empty = true;
    // What was far away when it was pushed was pushed before what was near.
    if (!far_.empty() && far_.begin()->first == now.ticks) [[unlikely]] {
      const auto far = far_.extract(far_.begin());
      for (const T& thing : far.mapped()) f(thing);
      is_empty = false;
    }
    auto& slot = slots_[slot_of(now)];
    if (slot.empty()) return !is_empty;
    occupied_[slot_of(now) / 64] &= ~(std::uint64_t{1} << (slot_of(now) % 64));
    slot.drain(pool_, f, expect);
    return true;
  }

  template <typename F>
  void drain(Time now, F f) {
    drain(now, f, [](const T&) {});
  }

 private:
  bool is_near(Time now, Time at) const { return at - now <= static_cast<Duration>(mask_); }
  [[gnu::noinline]] void push_far(Time at, T thing) { far_[at.ticks].push_back(thing); }

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

  std::vector<ChunkList<T>> slots_;
  ChunkPool<T> pool_;
  std::vector<std::uint64_t> occupied_;  // one bit a slot
  std::size_t mask_;                     // a power of two, less one
  std::map<std::int64_t, std::vector<T>> far_;
};

}  // namespace resprout::sim
