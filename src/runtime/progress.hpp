// What drives the operations of this process, as sessions see it: who is lost, what is due, and how
// a thread waits.
//
// Thread rule: one mutex guards this, the sessions and the transport. A thread of the program that
// waits for its operation drives everything meanwhile. What is said of losses is safe without the
// lock, from any thread, and takes effect at the next progress.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/agenda.hpp"
#include "runtime/clock.hpp"
#include "runtime/death_mark_watch.hpp"
#include "runtime/host_notices.hpp"
#include "runtime/idle.hpp"
#include "runtime/losses.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

using Lock = std::unique_lock<std::mutex>;

// Of the rounds in which a waiting thread finds nothing to do and yields, one in so many; of those
// in which it naps, each.
inline constexpr unsigned idle_rounds_between_looks = 8;
// Who has waited for so long in one call asks those for whom it waits.
inline constexpr std::int64_t standstill_ns = 200'000'000;
// How long the kernel may take a dead process apart, on a core that others wait for.
inline constexpr std::int64_t ending_ns = 3'000'000;

class Progress {
 public:
  // REQUIRES: `transport` outlives it. Ranks are world ranks.
  Progress(int self, int world_size, Transport& transport, IdleStrategy idle);
  virtual ~Progress() = default;

  int self() const { return self_; }
  Lock lock() { return Lock(mutex_); }
  // A lock of the same mutex that is not taken yet.
  Lock open_lock() { return Lock(mutex_, std::defer_lock); }

  Transport& transport() const { return transport_; }
  Agenda& agenda() { return agenda_; }
  HostNotices& notices() { return notices_; }
  const HostNotices& notices() const { return notices_; }
  const Losses& losses() const { return losses_; }
  // Until somebody is lost, or a deadline is set, the time stands where it was.
  Time now() { return clock_.now(losses_.count() != 0 || agenda_.has_deadlines()); }
  // From here on some operation sets deadlines though nobody is lost.
  void need_clock() { clock_.need_always(); }

  // Drives everything until `is_done`, giving up the lock whenever there is nothing to do.
  template <typename Predicate>
  void wait_until(Lock& lock, Predicate is_done);
  // What else has to go on while a thread of the program waits: called by that thread, without the
  // lock, now and then. `is_urgent()`: others may wait for that at any moment, so that it is called
  // in every round, and nobody naps. Before the first wait.
  void do_meanwhile(void (*work)(), bool (*is_urgent)()) {
    meanwhile_ = work;
    is_meanwhile_urgent_ = is_urgent;
  }
  // For a thread that has much to do before it waits. Gives up the processor if processes outnumber
  // cores. Then what was revoked meanwhile fails.
  void give_way(Lock& lock);
  // The lifeline's thread is driving.
  bool is_lifelines() const { return is_lifelines_; }

  void report_failure(int rank);
  // As report_failure, and tells all others of this host at once. So a process that waits there
  // knows it before its own lifeline gets the processor. REQUIRES: a kernel has seen the end of
  // that process.
  void report_death(int rank);
  // From here on each thread that waits looks at the death marks of this host. For a death that
  // this process is the first to see, `tell` is called on that thread. Before the first operation.
  void watch_death_marks(std::function<void(int rank)> tell) {
    death_marks_.watch(transport_.death_marks(), std::move(tell));
  }
  // One of this host has died of whom nothing is known yet. A few loads.
  bool has_new_death_mark() const { return death_marks_.misses_one(); }
  // Posts the losses of those.
  void report_marked_deaths();

  // The others are, or may be, going on without this process, which lives: what waits in a session
  // fails, and so does whatever is begun later. Nothing of it reaches the others any more, once
  // this has returned. All of them count as lost, but not before the sessions have failed. False:
  // nothing has happened, for the system has refused what it takes.
  bool cut_off();
  bool is_cut_off() const { return is_cut_off_.load(std::memory_order_acquire); }

  // For sessions: this one was revoked; it was also closed.
  virtual void tell_of_revocation(const Session& session) = 0;
  virtual void bid_farewell(Session& session) = 0;
  // Acts on what stands on the host's board. True if there was anything.
  virtual bool read_notices(Lock& lock) = 0;

 protected:
  virtual bool progress() = 0;
  // Asks all those for whom this process waits where they are.
  virtual void ask_awaited() = 0;

  void note_death(int rank);
  // No thread of the program waits.
  bool is_idle() const { return waiting_.load(std::memory_order_relaxed) == 0; }
  Lock try_lock() { return Lock(mutex_, std::try_to_lock); }
  std::vector<int> take_losses() { return losses_.take_news(); }
  void set_lifelines(bool is_lifelines) { is_lifelines_ = is_lifelines; }
  // Something was said that waits for the next progress.
  void note_news() { has_news_.store(true, std::memory_order_release); }
  bool has_news() const { return has_news_.load(std::memory_order_acquire); }
  void take_news() { has_news_.exchange(false, std::memory_order_acquire); }

 private:
  // With the lock held: no locked instruction is needed.
  void note_waiting(int more) {
    waiting_.store(waiting_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  bool is_somebody_ending() const {
    return idle_.is_crowded() && losses_.is_latest_within(ending_ns);
  }

  const int self_;
  Transport& transport_;
  const IdleStrategy idle_;
  std::mutex mutex_;
  std::atomic<int> waiting_{0};  // threads of the program that wait, and drive everything meanwhile
  Clock clock_;
  Agenda agenda_;
  HostNotices notices_;
  Losses losses_;
  DeathMarkWatch death_marks_;
  void (*meanwhile_)() = nullptr;
  bool (*is_meanwhile_urgent_)() = nullptr;
  bool is_lifelines_ = false;
  std::atomic<bool> is_cut_off_{false};
  std::atomic<bool> has_news_{false};
};

template <typename Predicate>
void Progress::wait_until(Lock& lock, Predicate is_done) {
  if (is_done()) return;
  note_waiting(+1);
  Idle idle(idle_);
  unsigned idle_rounds = 0;
  std::int64_t ask_at = 0;  // also if something moves: that may be what the others ask
  while (!is_done()) {
    const std::uint32_t rings = notices_.bell().rings();
    if (progress()) {
      idle.reset();
      continue;
    }
    if (idle.is_spinning()) {
      idle.pause();
      continue;
    }
    lock.unlock();
    if (has_new_death_mark()) report_marked_deaths();
    const bool is_urgent = is_meanwhile_urgent_ != nullptr && is_meanwhile_urgent_();
    const bool is_look_over = ++idle_rounds % idle_rounds_between_looks == 0 || idle.is_sleeping();
    if (meanwhile_ != nullptr && (is_look_over || is_urgent)) meanwhile_();
    if (is_somebody_ending()) death_marks_.let_others_pass(losses_);
    const std::int64_t time = is_look_over ? Clock::read().ticks : 0;
    if (is_look_over && ask_at == 0) ask_at = time + standstill_ns;
    const bool is_to_ask = is_look_over && time >= ask_at;
    if (is_urgent)
      sched_yield();
    else
      idle.pause([&](long ns) {
        const int fd = transport_.pollable_fd();
        if (fd < 0)
          notices_.bell().nap(rings, ns);
        else
          sleep_until_readable(fd, ns);
      });
    lock.lock();
    if (is_to_ask) {
      ask_awaited();
      ask_at = time + standstill_ns;
    }
  }
  note_waiting(-1);
}

}  // namespace resprout::runtime
