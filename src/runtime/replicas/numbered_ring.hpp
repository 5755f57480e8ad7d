// Things by consecutive numbers, of which the lowest go first: a slot for each number from the
// first one that is kept to the highest one that was asked for.
//
// A slot is empty (`T{}`) until somebody fills it. Numbers far beyond the first one have none.
// Thread rule: one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace resprout::runtime {

template <typename T>
class NumberedRing {
 public:
  static constexpr std::uint64_t reach = std::uint64_t{1} << 20;

  // Null: nobody has asked for it, or it is gone.
  T* find(std::uint64_t number) { return is_in(number) ? &slots_[index(number)] : nullptr; }
  // Made, if it is not there. Null: it is gone, or beyond reach.
  T* make(std::uint64_t number) {
    if (number < first_ || number - first_ >= reach) return nullptr;
    if (number - first_ >= slots_.size()) grow(number - first_ + 1);
    end_ = std::max(end_, number + 1);
    return &slots_[index(number)];
  }
  // All before `number` are gone.
  void drop_below(std::uint64_t number) {
    if (number <= first_) return;
    if (number >= end_) {
      slots_ = {};
      end_ = number;
    }
    for (std::uint64_t at = first_; at < number && !slots_.empty(); ++at) slots_[index(at)] = T{};
    first_ = number;
  }
  // `function(number, slot)`, in order.
  template <typename Function>
  void for_each(Function function) {
    for (std::uint64_t number = first_; number < end_; ++number)
      function(number, slots_[index(number)]);
  }

 private:
  bool is_in(std::uint64_t number) const { return number >= first_ && number < end_; }
  std::size_t index(std::uint64_t number) const {
    return static_cast<std::size_t>(number) & (slots_.size() - 1);
  }
  void grow(std::uint64_t needed) {
    std::size_t size = std::max<std::size_t>(2, slots_.size());
    while (size < needed) size *= 2;
    std::vector<T> larger(size);
    for (std::uint64_t number = first_; number < end_; ++number)
      larger[static_cast<std::size_t>(number) & (size - 1)] = std::move(slots_[index(number)]);
    slots_ = std::move(larger);
  }

  std::vector<T> slots_;  // a power of two of them, or none
  std::uint64_t first_ = 1;
  std::uint64_t end_ = 1;
};

}  // namespace resprout::runtime
