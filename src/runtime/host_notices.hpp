// What the processes of this host tell each other at once: who has died, and which session is
// revoked. A notice stands on a board that all read; a bell has everybody look at what was sent to
// it.
//
// Thread rule: `read` and `post_revocation` under the engine's lock, all else from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/doorbell.hpp"
#include "runtime/notice_board.hpp"

namespace resprout::runtime {

class HostNotices {
 public:
  HostNotices(Doorbell bell, NoticeBoard board) : bell_(bell), board_(board) {}

  const Doorbell& bell() const { return bell_; }

  // Says that the process with this world rank has died, unless an unread notice says so. False:
  // there is no room, and nobody was told.
  bool post_death(int rank) const { return board_.post(notice_of_loss(rank), read_.load()); }
  // Says that the session is revoked, and rings. False: as above, or the number cannot be posted.
  bool post_revocation(std::uint64_t session) {
    if (session <= loss_notice_max || !board_.post(session, read_)) return false;
    const std::uint32_t rings = bell_.ring();
    // Mostly nobody else has said anything meanwhile, and there is nothing to read or to answer.
    if (board_.at(read_) == session) {
      read_.fetch_add(1, std::memory_order_release);
      std::uint32_t answered = rings - 1;
      answered_rings_.compare_exchange_strong(answered, rings, std::memory_order_relaxed);
    }
    return true;
  }

  // Somebody has rung since the last `answer`: to say something that ends what a thread waits for,
  // also inside of the MPI library. A few loads.
  bool is_rung() const { return bell_.rings() != answered_rings_.load(std::memory_order_relaxed); }
  // All rings up to this number are answered.
  void answer(std::uint32_t rings) { answered_rings_.store(rings, std::memory_order_relaxed); }

  bool has_unread() const { return board_.at(read_.load(std::memory_order_acquire)) != 0; }
  // Calls `on_loss(world rank)` or `on_revocation(session)` for each unread notice. True if there
  // was any.
  template <typename OnLoss, typename OnRevocation>
  bool read(OnLoss on_loss, OnRevocation on_revocation) {
    if (!has_unread()) return false;
    const std::uint32_t rings = bell_.rings();
    while (const std::uint64_t notice = board_.at(read_)) {
      if (notice <= loss_notice_max)
        on_loss(static_cast<int>(notice - 1));
      else
        on_revocation(notice);
      read_.fetch_add(1, std::memory_order_release);
    }
    answer(rings);
    return true;
  }

 private:
  // Up to here a notice is 1 + the world rank of a process that has died.
  static constexpr std::uint64_t loss_notice_max = 0xffffffff;
  static std::uint64_t notice_of_loss(int rank) { return static_cast<std::uint64_t>(rank) + 1; }

  const Doorbell bell_;
  const NoticeBoard board_;
  std::atomic<std::size_t> read_ = 0;  // so many notices
  std::atomic<std::uint32_t> answered_rings_{0};
};

}  // namespace resprout::runtime
