// The engine: everything of this process that outlives a call. It owns the sessions, routes frames
// to operations, and spreads the news of losses.
//
// Once links are watched (links.hpp), the lifeline's thread says when they have to be looked at,
// and the thread that drives the engine does it.
//
// Thread rule: that of progress.hpp. When no thread of the program is inside, `tick` (called by the
// lifeline's thread every millisecond) drives everything, but for what only the program's threads
// may do. Questions about losses, and functions that `note` something, are safe without the lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/links.hpp"
#include "runtime/open_sessions.hpp"
#include "runtime/progress.hpp"
#include "runtime/slot_pool.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

class Engine final : public Progress, public Receiver {
 public:
  // REQUIRES: `transport` outlives the engine. Ranks are world ranks.
  Engine(int self, int world_size, Transport& transport, IdleStrategy idle);

  // As those of OpenSessions.
  Session& open_session(Lock&, const std::vector<int>& world_ranks) {
    return sessions_.open(world_ranks);
  }
  Session& open_session(Lock&, std::uint64_t name, const std::vector<int>& world_ranks) {
    return sessions_.open(name, world_ranks);
  }
  void close_session(Lock&, Session& session) { sessions_.close(session); }

  // `rank` was cut off, or its end was posted: what it has not written into shared memory it never
  // will.
  bool writes_no_more(int rank) const {
    return losses().has_ended(rank) || transport().has_withdrawn(rank);
  }
  // `rank` is lost, and reads and writes no shared memory any more.
  bool has_ended(int rank) const {
    return losses().is_lost(rank) && (writes_no_more(rank) || slot_pool_.has_ended(rank));
  }

  // Shared with all processes of this host; without the lock.
  SlotPool& slot_pool() { return slot_pool_; }

  // Before the first operation.
  void watch_links(LinkWatching watching) { links_.watch(std::move(watching)); }
  // As those of Links.
  void note_question(int by) {
    links_.note_question(by);
    note_news();
  }
  void note_at_work(int rank) {
    links_.note_at_work(rank);
    note_news();
  }
  void note_silent_link(int one, int other) {
    links_.note_silent_link(one, other);
    note_news();
  }

  // Progress on behalf of a program that computes. Returns at once if a thread is inside: what it
  // waits for it drives itself, so that combiners run on the program's own threads. False: nothing
  // moved, and nothing here has to go on by itself: the next one may be late.
  bool tick();
  // Reads the board or, if nothing new is there, does what `tick` does. Also from inside of the MPI
  // library, on a thread that may hold the lock: then, and if another thread is inside, nothing
  // happens.
  void answer();
  // Drives everything for a while, on a thread of the program that does not wait.
  void drive(Lock& lock);
  // The same unless another thread is at it. REQUIRES: this thread does not hold the lock.
  void maybe_drive();
  // Goes on with what sessions have to do for themselves, and nothing else. Under the lock. True if
  // any of it came to its end.
  bool advance_tasks();
  // Waits until no session has anything to do for itself.
  void finish_tasks(Lock& lock) {
    wait_until(lock, [&] { return !agenda().has_tasks(); });
  }
  // Nothing that was said is still waiting to leave this process.
  void wait_until_flushed(Lock& lock) {
    wait_until(lock, [&] { return !agenda().has_unsent() && transport().is_flushed(); });
  }

  // Who is asked about a peer whose connection broke: only the lifeline knows whether it is gone.
  // Called with the lock held. May stay empty.
  void ask_about_broken_peers(std::function<void(int rank)> ask) { ask_ = std::move(ask); }

  // Who is told that a session was revoked, by this process or another: once, with the lock held,
  // on any thread. Before the first session.
  void tell_of_revocations(void (*tell)(const Session&)) { tell_ = tell; }
  // How many sessions were revoked so far. Safe without the lock.
  int revocation_count() const { return revocation_count_.load(std::memory_order_acquire); }

  // What this process waits for, in lines for a person. Without the lock, from any thread.
  std::string describe();

  // Progress
  void tell_of_revocation(const Session& session) override;
  void bid_farewell(Session& session) override { sessions_.bid_farewell(session); }
  bool read_notices(Lock&) override { return read_notices(); }

  // Receiver
  std::byte* allocate_payload(int peer, const FrameHeader& header, std::size_t bytes) override;
  void abandon_payload(int peer, std::byte* memory) override;
  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                    std::span<const std::byte> data, DataOwner owner) override;
  void handle_broken_peer(int peer) override {
    if (ask_) ask_(peer);
  }

 private:
  bool progress() override;
  void ask_awaited() override;
  bool read_notices();
  Lock lock_if_idle();
  bool progress_for_program();
  bool has_to_go_on();
  void handle_news();
  void call_for_a_look();
  void look_at_links();
  void fire_deadlines();

  OpenSessions sessions_{*this};
  SlotPool slot_pool_;
  std::vector<Buffer> incoming_;  // by peer: the frame that is arriving in pieces
  std::function<void(int)> ask_;
  void (*tell_)(const Session&) = nullptr;
  std::atomic<int> revocation_count_{0};
  Links links_;
  std::atomic<std::int64_t> next_look_{0};  // at links
  std::atomic<bool> is_look_due_{false};
  bool have_all_failed_ = false;  // since it was cut off
};

}  // namespace resprout::runtime
