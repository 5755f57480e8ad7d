// The messages that have arrived and were not received yet: one queue a process.
//
// All queues share one pool of entries; each is a list in the order of arrival.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/message.hpp"

namespace resprout::sim {

template <typename Payload>
class InboundQueues {
 public:
  struct Entry {
    Message message;
    Payload payload;
    std::int32_t distance;  // from the receiver, in its tree
    std::int32_t next;
  };

  explicit InboundQueues(std::int32_t procs) : queues_(static_cast<std::size_t>(procs)) {}

  void clear() {
    std::fill(queues_.begin(), queues_.end(), Queue{});
    entries_.clear();
    free_ = nothing;
  }

  bool is_empty(Rank rank) const { return at(rank).length == 0; }
  std::int32_t length(Rank rank) const { return at(rank).length; }
  // The longest that the queue of `rank` has been.
  std::int32_t longest(Rank rank) const { return at(rank).longest; }

  void push(Rank rank, const Message& message, const Payload& payload, std::int32_t distance) {
    Queue& queue = at(rank);
    std::int32_t fresh = free_;
    if (fresh != nothing) {
      free_ = entry(fresh).next;
      entry(fresh) = {message, payload, distance, nothing};
    } else {
      fresh = static_cast<std::int32_t>(entries_.size());
      entries_.push_back({message, payload, distance, nothing});
    }
    (queue.length == 0 ? queue.first : entry(queue.last).next) = fresh;
    queue.last = fresh;
    queue.longest = std::max(queue.longest, ++queue.length);
  }

  // It will be used soon.
  void expect(Rank rank) const { __builtin_prefetch(&at(rank), 1); }

  // Takes out the first of those with the lowest rank(entry), an integer from 0 to `ranks` - 1;
  // those with a higher one stay. False: there is none.
  template <typename Order>
  bool take(Rank rank, std::int32_t orders, Order order, Entry& taken) {
    Queue& queue = at(rank);
    std::int32_t best = orders;
    std::int32_t found = nothing;
    std::int32_t before_found = nothing;
    std::int32_t before = nothing;
    for (std::int32_t i = queue.length == 0 ? nothing : queue.first; i != nothing;
         before = i, i = entry(i).next) {
      const std::int32_t order_of_it = order(entry(i));
      if (order_of_it >= best) continue;
      best = order_of_it;
      found = i;
      before_found = before;
      if (best == 0) break;
    }
    if (found == nothing) return false;
    taken = entry(found);
    if (before_found == nothing)
      queue.first = taken.next;
    else
      entry(before_found).next = taken.next;
    if (queue.last == found) queue.last = before_found;
    --queue.length;
    entry(found).next = free_;
    free_ = found;
    return true;
  }

 private:
  static constexpr std::int32_t nothing = -1;

  struct Queue {
    std::int32_t first = nothing;
    std::int32_t last = nothing;
    std::int32_t length = 0;
    std::int32_t longest = 0;
  };

  static std::size_t position(Rank rank) { return static_cast<std::size_t>(index(rank)); }
  Queue& at(Rank rank) { return queues_[position(rank)]; }
  const Queue& at(Rank rank) const { return queues_[position(rank)]; }
  Entry& entry(std::int32_t i) { return entries_[static_cast<std::size_t>(i)]; }

  std::vector<Queue> queues_;
  std::vector<Entry> entries_;
  std::int32_t free_ = nothing;
};

}  // namespace resprout::sim
