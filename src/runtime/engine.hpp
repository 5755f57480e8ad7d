// The engine: everything of this process that outlives a call. It owns the sessions and the lock,
// routes frames to operations, spreads the news of losses, and waits.
//
// Once links are watched (links.hpp), the lifeline's thread says when they have to be looked at,
// and whoever drives the engine does it.
//
// Thread rule: one mutex guards engine, sessions and transport. A thread that waits for its
// operation drives everything meanwhile; when no thread of the program is inside, `tick` (called by
// the lifeline's thread every millisecond) does, but for what only the program's threads may do.
// The `note_` functions and the questions about losses are safe without the lock.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/idle.hpp"
#include "runtime/lane_pool.hpp"
#include "runtime/links.hpp"
#include "runtime/session.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

class Farewell;

// Of the rounds in which a waiting thread finds nothing to do and yields, one in so many; of those
// in which it naps, each.
inline constexpr unsigned idle_rounds_between_looks = 8;

// How long the kernel may take a dead process apart, on a core that others wait for.
inline constexpr std::int64_t ending_ns = 3'000'000;

class Engine final : public Receiver {
 public:
  // REQUIRES: `transport` outlives the engine. Ranks are world ranks.
  Engine(int self, int world_size, Transport& transport, IdleStrategy idle);
  ~Engine();

  int self() const { return self_; }
  Lock lock() { return Lock(mutex_); }
  // The same lock, not taken yet.
  Lock open_lock() { return Lock(mutex_, std::defer_lock); }

  // The session of a communicator whose members are these world ranks, in communicator order. The
  // n-th session of the same members has the same identity at all of them.
  Session& open_session(Lock& lock, const std::vector<int>& world_ranks);
  // The same under a name that all members know (Session::child): the same name and members give
  // the same identity.
  Session& open_session(Lock& lock, std::uint64_t name, const std::vector<int>& world_ranks);
  // Everybody is done with it (a barrier was its last operation). It stays able to answer. A
  // revoked one gives its memory back when all have closed it (farewell.hpp).
  void close_session(Lock& lock, Session& session);

  // Safe without the lock, from any thread; takes effect at the next progress.
  void note_loss(int world_rank);
  // The same, and all others of this host are told at once: whoever waits there need not wait until
  // its own lifeline gets the processor. REQUIRES: a kernel has seen the end of that process.
  void post_loss(int world_rank);
  bool is_lost(int world_rank) const {
    return lost_[static_cast<std::size_t>(world_rank)].load(std::memory_order_acquire);
  }
  int lost_count() const { return lost_count_.load(std::memory_order_acquire); }

  // From here on whoever waits looks at the pulses of this host, and `tell` hears, on its thread,
  // whom it has found first. Before the first operation.
  void watch_pulses(std::function<void(int world_rank)> tell) {
    pulses_ = transport_.pulses();
    tell_of_stop_ = std::move(tell);
  }
  // One of this host has died of whom nothing is known yet. A few loads; without the lock.
  bool misses_a_pulse() const {
    return pulses_.stopped() != known_stops_.load(std::memory_order_relaxed);
  }
  // Posts the losses of those. Safe without the lock, from any thread.
  void note_stops();

  // The others are, or may be, going on without this process, which lives: what waits in a session
  // fails, and so does whatever is begun later. Nothing of it reaches the others any more, once
  // this has returned. All of them count as lost, but not before the sessions have failed. False:
  // nothing has happened, for the system has refused what it takes. Safe without the lock, from any
  // thread; takes effect here at the next progress.
  bool cut_off();
  bool is_cut_off() const { return is_cut_off_.load(std::memory_order_acquire); }
  // `world_rank` was cut off so, or its end was posted: what it has not written into shared memory
  // it never will.
  bool writes_no_more(int world_rank) const {
    return has_ended_[static_cast<std::size_t>(world_rank)].load(std::memory_order_acquire) ||
           transport_.has_withdrawn(world_rank);
  }

  // `world_rank` is lost, and reads and writes no shared memory any more.
  bool has_ended(int world_rank) const {
    return is_lost(world_rank) && (writes_no_more(world_rank) || lane_pool_.has_ended(world_rank));
  }

  // Shared with all processes of this host; without the lock.
  LanePool& lane_pool() { return lane_pool_; }

  // Before the first operation.
  void watch_links(LinkWatching watching) { links_.watch(std::move(watching)); }
  // As those of Links.
  void note_question(int by) {
    links_.note_question(by);
    has_news_.store(true, std::memory_order_release);
  }
  void note_at_work(int world_rank) {
    links_.note_at_work(world_rank);
    has_news_.store(true, std::memory_order_release);
  }
  void note_silent_link(int one, int other) {
    links_.note_silent_link(one, other);
    has_news_.store(true, std::memory_order_release);
  }

  // Progress on behalf of a program that computes. Returns at once if a thread is inside: what it
  // waits for it drives itself, so that combiners run on the program's own threads. False: nothing
  // moved, and nothing here has to go on by itself: the next one may be late.
  bool tick();
  // Somebody of this host has something to say that ends what a thread waits for inside of the MPI
  // library. A few loads; without the lock.
  bool is_called() const {
    return bell_.rings() != answered_rings_.load(std::memory_order_relaxed);
  }
  // Something stands on the host's board that this process has not acted on. Without the lock.
  bool has_notice() const { return board_.at(read_notices_.load(std::memory_order_acquire)) != 0; }
  // Acts on what stands there.
  void read_notices(Lock& lock);
  // Reads the board or, if nothing new is there, does what `tick` does. Also from inside of the MPI
  // library, on a thread that may hold the lock: then, and if another thread is inside, nothing
  // happens.
  void answer();
  // Drives everything for a while, on a thread of the program that does not wait.
  void drive(Lock& lock);
  // The same unless another thread is at it. REQUIRES: this thread does not hold the lock.
  void maybe_drive();
  // Where processes outnumber cores, others come first now; and whatever was revoked meanwhile
  // fails. For whoever has much to do before it waits.
  void give_way(Lock& lock);
  // Waits until no session has anything to do for itself.
  void finish_tasks(Lock& lock);
  // Drives everything until `is_done`, giving up the lock whenever there is nothing to do.
  template <typename Predicate>
  void wait_until(Lock& lock, Predicate is_done);

  // Nothing that was said is still waiting to leave this process.
  void wait_until_flushed(Lock& lock) {
    wait_until(lock, [&] { return to_flush_.empty() && transport_.is_flushed(); });
  }

  // Who is asked about a peer whose connection broke: only the lifeline knows whether it is gone.
  // Called with the lock held. May stay empty.
  void ask_about_broken_peers(std::function<void(int world_rank)> ask) { ask_ = std::move(ask); }

  // Who is told that a session was revoked, by this process or another: once, with the lock held,
  // on any thread. Before the first session.
  void tell_of_revocations(void (*tell)(const Session&)) { tell_ = tell; }
  // How many sessions were revoked so far. Safe without the lock.
  int revocation_count() const { return revocation_count_.load(std::memory_order_acquire); }

  // What else has to go on while a thread of the program waits: called by that thread, without the
  // lock, now and then. `is_urgent()`: others may wait for that at any moment, so that it is called
  // in every round, and nobody naps. Before the first wait.
  void do_meanwhile(void (*work)(), bool (*is_urgent)()) {
    meanwhile_ = work;
    is_meanwhile_urgent_ = is_urgent;
  }

  // What this process waits for, in lines for a person. Without the lock, from any thread.
  std::string describe();

  // For sessions.
  Transport& transport() { return transport_; }
  // Mostly nothing waits for a moment before somebody is lost: until then the clock is not read,
  // and the time stands where it was.
  Time now() {
    if (needs_clock_ || lost_count() != 0 || !timed_.empty()) time_ = read_clock();
    return time_;
  }
  // From here on some operation sets deadlines though nobody is lost.
  void need_clock() { needs_clock_ = true; }
  std::vector<Rank> lost_members(const Members& members) const;
  void come_back(Session& session, std::uint64_t operation);
  void wake_at_deadline(Session& session, std::uint64_t operation);
  void tell_of_revocation(const Session& session) {
    revocation_count_.fetch_add(1, std::memory_order_release);
    if (tell_ != nullptr) tell_(session);
  }
  // Tells everybody on this host that the session is revoked. False: there is no room for that.
  bool post(const Session& session);
  // Has everybody on this host look at what was sent to it.
  void ring() { bell_.ring(); }
  // The session is revoked, and closed.
  void bid_farewell(Session& session);
  // The lifeline's thread is driving.
  bool is_lifelines() const { return is_lifelines_; }
  // Has the session tell the operation what it missed, on a thread of the program.
  void catch_up_later(Session& session, std::uint64_t operation);
  // The session has tasks.
  void attend_to(Session& session) { busy_.push_back(&session); }
  // Has the session settle the operation as soon as there is nothing else to do: whoever waits for
  // one that runs does not wait for hundreds that are over.
  void settle_later(Session& session, std::uint64_t operation) {
    to_settle_.push_back({&session, operation});
  }
  // Keeps a forgotten operation until the transport has read what it sent.
  void linger(std::unique_ptr<Operation> operation) { lingering_.push_back(std::move(operation)); }

  // Receiver
  std::byte* allocate_payload(int peer, const FrameHeader& header, std::size_t bytes) override;
  void abandon_payload(int peer, std::byte* memory) override;
  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                    std::span<const std::byte> data, DataOwner owner) override;
  void handle_broken_peer(int peer) override {
    if (ask_) ask_(peer);
  }

 private:
  struct Waiting {
    Session* session;
    std::uint64_t operation;
  };

  // With the lock held: no locked instruction is needed.
  void note_waiting(int more) {
    waiting_.store(waiting_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  static Time read_clock();
  Session& open_session(std::uint64_t name, const std::vector<int>& world_ranks);
  bool progress();
  bool read_board();
  void act_on(std::uint64_t notice);
  void note_end(int world_rank);
  bool is_somebody_ending() const {
    return idle_.is_crowded() && lost_count() != 0 &&
           read_clock().ticks < last_loss_.load(std::memory_order_relaxed) + ending_ns;
  }
  void let_others_pass() const;
  Lock lock_if_idle();
  bool stand_in();
  bool has_to_go_on() const;
  void retire(Session& session);
  void advance_farewells();
  void catch_up();
  bool advance_tasks();
  void handle_news();
  void fail_all();
  void spread_losses();
  void look_at_links();
  void call_for_a_look();
  void flush_waiting();
  void settle_one();
  void fire_deadlines();

  const int self_;
  Transport& transport_;
  const IdleStrategy idle_;
  std::function<void(int)> ask_;
  void (*meanwhile_)() = nullptr;
  bool (*is_meanwhile_urgent_)() = nullptr;
  void (*tell_)(const Session&) = nullptr;
  std::atomic<int> revocation_count_{0};
  std::mutex mutex_;
  const Doorbell bell_;
  const NoticeBoard board_;
  std::atomic<std::size_t> read_notices_ = 0;
  std::unordered_set<std::uint64_t> early_notices_;  // of sessions that are not open here
  std::atomic<std::uint32_t> answered_rings_{0};
  Pulses pulses_;
  std::atomic<unsigned> known_stops_{0};
  std::function<void(int)> tell_of_stop_;
  std::atomic<int> waiting_{0};  // threads of the program that wait, and drive everything meanwhile
  std::unordered_map<std::uint64_t, std::unique_ptr<Session>> sessions_;
  std::unordered_map<std::uint64_t, std::uint32_t> opened_;  // by members: how many so far
  std::vector<std::uint64_t> closed_;                        // oldest first, still in sessions_
  std::unordered_set<std::uint64_t> gone_;
  std::vector<EarlyFrame> orphans_;
  std::vector<Buffer> incoming_;  // by peer: the frame that is arriving in pieces
  Time time_ = read_clock();
  bool needs_clock_ = false;
  std::vector<Waiting> to_flush_;
  std::vector<Waiting> flushing_;  // its memory is used again
  std::vector<Waiting> timed_;
  std::deque<Waiting> to_settle_;  // the youngest of a session first: they may be waited for
  std::vector<Waiting> to_catch_up_;
  std::vector<Session*> busy_;  // have tasks
  std::vector<std::unique_ptr<Farewell>> farewells_;
  bool is_lifelines_ = false;
  std::vector<std::unique_ptr<Operation>> lingering_;
  Links links_;
  std::atomic<std::int64_t> next_look_{0};  // at links
  std::atomic<bool> is_look_due_{false};
  std::atomic<bool> is_cut_off_{false};
  bool have_all_failed_ = false;  // since

  std::unique_ptr<std::atomic<bool>[]> has_ended_;  // was posted
  std::unique_ptr<std::atomic<bool>[]> lost_;
  std::atomic<int> lost_count_{0};
  std::atomic<std::int64_t> last_loss_{0};
  LanePool lane_pool_;
  std::mutex news_mutex_;
  std::vector<int> news_;
  std::atomic<bool> has_news_{false};
};

template <typename Predicate>
void Engine::wait_until(Lock& lock, Predicate is_done) {
  if (is_done()) return;
  note_waiting(+1);
  Idle idle(idle_);
  unsigned idle_rounds = 0;
  std::int64_t ask_at = 0;  // also if something moves: that may be what the others ask
  while (!is_done()) {
    const std::uint32_t rings = bell_.rings();
    if (progress()) {
      idle.reset();
      continue;
    }
    if (idle.is_spinning()) {
      idle.pause();
      continue;
    }
    lock.unlock();
    if (misses_a_pulse()) note_stops();
    const bool is_urgent = is_meanwhile_urgent_ != nullptr && is_meanwhile_urgent_();
    const bool is_look_over = ++idle_rounds % idle_rounds_between_looks == 0 || idle.is_sleeping();
    if (meanwhile_ != nullptr && (is_look_over || is_urgent)) meanwhile_();
    if (is_somebody_ending()) let_others_pass();
    const std::int64_t time = is_look_over ? read_clock().ticks : 0;
    if (is_look_over && ask_at == 0) ask_at = time + standstill_ns;
    const bool is_to_ask = is_look_over && time >= ask_at;
    if (is_urgent)
      sched_yield();
    else
      idle.pause([&](long ns) { bell_.nap(rings, ns); });
    lock.lock();
    if (is_to_ask) {
      for (const auto& [id, session] : sessions_) session->standstill.ask_awaited();
      ask_at = time + standstill_ns;
    }
  }
  note_waiting(-1);
}

}  // namespace resprout::runtime
