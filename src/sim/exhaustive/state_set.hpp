// The states that an exploration has seen, each as the 128 bits of its digest.
//
// Open addressing: 16 bytes a state, at most three quarters full. Thread rule: none.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace resprout::sim {

class StateSet {
 public:
  using State = std::pair<std::uint64_t, std::uint64_t>;

  // Where a state stands in its exploration.
  enum class Mark : std::uint8_t { unseen, open, closed };

  Mark mark(State state) const {
    const State& slot = slots_[find(state)];
    if (slot == empty) return Mark::unseen;
    return (slot.second & 1) != 0 ? Mark::open : Mark::closed;
  }

  // Of an unseen or open state. REQUIRES: mark is open or closed.
  void set(State state, Mark mark) {
    if (size_ * 4 >= slots_.size() * 3) grow();
    State& slot = slots_[find(state)];
    if (slot == empty) ++size_;
    slot = key(state);
    if (mark == Mark::open) slot.second |= 1;
  }

  std::uint64_t size() const { return size_; }

 private:
  static constexpr State empty{0, 0};

  // The lowest bit of the second half is the mark.
  static State key(State state) { return {state.first | 1, state.second & ~std::uint64_t{1}}; }

  std::size_t find(State state) const {
    const State wanted = key(state);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(wanted.second >> 8) & mask;
    while (slots_[at] != empty && key(slots_[at]) != wanted) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<State> old(slots_.size() * 2, empty);
    old.swap(slots_);
    for (const State& slot : old)
      if (slot != empty) slots_[find(slot)] = slot;
  }

  std::vector<State> slots_ = std::vector<State>(1 << 16, empty);
  std::uint64_t size_ = 0;
};

}  // namespace resprout::sim
