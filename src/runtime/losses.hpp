// Which processes are lost, as far as this one knows. Ranks are world ranks.
//
// Thread rule: all from any thread, without the engine's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/rank.hpp"
#include "runtime/members.hpp"
#include "runtime/mutex.hpp"

namespace resprout::runtime {

class Losses {
 public:
  explicit Losses(int world_size);

  // False: it is known.
  bool note(int rank);
  // As note, of a process whose end a kernel has seen: it writes into no shared memory any more.
  bool note_death(int rank);

  bool is_lost(int rank) const { return lost_[at(rank)].load(std::memory_order_acquire); }
  // Its end was noted.
  bool has_ended(int rank) const { return ended_[at(rank)].load(std::memory_order_acquire); }
  int count() const { return count_.load(std::memory_order_acquire); }
  // In the order of `members`.
  std::vector<Rank> among(const Members& members) const;
  // The latest one was noted less than `ns` nanoseconds ago.
  bool is_latest_within(std::int64_t ns) const;

  // Those that were noted since the last call, in that order.
  std::vector<int> take_news();

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  std::unique_ptr<std::atomic<bool>[]> lost_;
  std::unique_ptr<std::atomic<bool>[]> ended_;
  std::atomic<int> count_{0};
  std::atomic<std::int64_t> latest_ns_{0};
  Mutex news_mutex_;
  std::vector<int> news_ RESPROUT_GUARDED_BY(news_mutex_);
};

}  // namespace resprout::runtime
