// What a process says to all others of its host at once: numbers on a board in memory that they
// share, each there for good, read by everybody in the same order.
//
// Saying something is one instruction on one word: a process that is killed has said it to all or
// to nobody. Looking whether there is something new costs a load, of memory that nobody writes
// meanwhile, so it can be done in every round of a loop that waits.
//
// Thread rule: all from any thread of any process. A process that is killed at any instruction
// blocks nobody.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace resprout::runtime {

class NoticeBoard {
 public:
  // What is said once it is full has to be said otherwise.
  static constexpr std::size_t notices_max = std::size_t{1} << 16;
  // What it takes, all zero at first; touched only as far as it is used.
  static constexpr std::size_t bytes = notices_max * sizeof(std::uint64_t);

  // One on which nobody can say anything.
  NoticeBoard() = default;
  // REQUIRES: `memory` is 8-byte aligned and outlives the board.
  explicit NoticeBoard(std::byte* memory) : notices_(reinterpret_cast<std::uint64_t*>(memory)) {}

  // The notice at this place, 0: none yet. Who sees one sees what was written before it.
  std::uint64_t at(std::size_t place) const {
    if (notices_ == nullptr || place >= notices_max) return 0;
    return std::atomic_ref(notices_[place]).load(std::memory_order_acquire);
  }

  // Puts it up behind all others, unless it is at `from` or behind. False: there is no room.
  // REQUIRES: notice != 0; all places before `from` are taken.
  bool post(std::uint64_t notice, std::size_t from) const {
    if (notices_ == nullptr) return false;
    for (std::size_t place = from; place < notices_max; ++place) {
      std::uint64_t there = at(place);
      if (there == 0 && std::atomic_ref(notices_[place]).compare_exchange_strong(there, notice))
        return true;
      if (there == notice) return true;
    }
    return false;
  }

 private:
  std::uint64_t* notices_ = nullptr;
};

}  // namespace resprout::runtime
