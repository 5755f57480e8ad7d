// What may differ between the replicas of this rank, as its program's thread asks for it: the
// leader finds it out, the others follow.
//
// The driver of protocols/decision_log: it keeps what was decided, waits where the machine has to
// be waited for, and counts polls that fail. Waiting never blocks the program's other
// communication: somebody in the same plane may need it before the replicas of this process get as
// far.
//
// Lazy Fault Detection for Redundant MPI, chapter 7; docs/explanation/protocols/decision_log.md.
//
// Invariants
//  1. Each replica gets the same answers, and the same refusals before them, in the same order.
//  2. At most Setup::window decisions are kept, each with the bytes of its answer.
//  3. What is announced belongs to no call: each replica gets it as soon as it has it, in the same
//     order, wherever its program is.
//  4. What the leader has counted without saying it is seen by nobody: it says it before anything
//     that others can see, and before it may block.
// Thread rule: from any thread, but only one of the program at a time: the order of its calls has
// to be the same in all replicas. ChannelNetwork is called under the lock and must not call back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocols/decision_log/decision_log.hpp"
#include "runtime/idle.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/channels.hpp"
#include "runtime/replicas/decision_frame.hpp"
#include "runtime/replicas/decision_record.hpp"

namespace resprout::runtime {

// This replica cannot go on. `what()` says why, for people.
class DecisionError : public std::runtime_error {
 public:
  enum class Why : std::uint8_t {
    diverged,  // the program asks for something else here than it did where it was decided
    deposed,   // the other planes take this one for lost
  };
  DecisionError(Why why, const std::string& text) : std::runtime_error(text), why_(why) {}
  Why why() const { return why_; }

 private:
  Why why_;
};

class Decisions {
 public:
  using Bytes = std::vector<std::byte>;
  // What is done again and again while a thread waits; without the lock.
  using Meanwhile = std::function<void()>;
  // The name of a kind of calls, for people: "MPI_Wtime".
  using NameOf = std::function<std::string(std::uint32_t kind)>;

  struct Setup {
    Replica self;
    std::int32_t planes = 2;      // 2 or 3
    std::uint64_t window = 1024;  // so many decisions may the leader be ahead; 1 or more
    // The leader says refusals at most so often, unless it has to.
    std::int64_t quiet_ns = 1'000'000;
    IdleStrategy idle;
    NameOf name_of = [](std::uint32_t kind) { return "a call of kind " + std::to_string(kind); };
  };
  // Whether finding the answer may take as long as others like.
  enum class Pace : std::uint8_t { at_once, blocks };

  // ChannelNetwork reaches the replicas of `setup.self.rank` in the other planes.
  Decisions(Setup setup, ChannelNetwork& network);
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;

  // The answer to a call of this kind. `find` is called where it is decided, without the lock.
  // Throws DecisionError, and what `find` throws: then nothing was decided.
  Bytes decide(std::uint32_t kind, Pace pace, const std::function<Bytes()>& find,
               const Meanwhile& meanwhile);
  // The same of calls that may say no, at once: nothing.
  std::optional<Bytes> poll(std::uint32_t kind, const std::function<std::optional<Bytes>()>& look,
                            const Meanwhile& meanwhile);

  // What the leader finds out at a time of its own. Nothing happens, and false, where another one
  // leads. Throws DecisionError.
  bool announce(Bytes what);
  // What was announced by others and not taken yet, in order. `is_leading`: all of it is known, and
  // whatever else is announced is announced here.
  struct Announced {
    std::vector<Bytes> all;
    bool is_leading = false;
  };
  Announced take_announced();
  // There may be something for `take_announced`, or this process has begun to lead: a load.
  bool has_news() const { return has_news_.load(std::memory_order_acquire); }
  // The program of the replica that decides has ended, or this process leads.
  bool has_leader_ended() const;

  // Says what was counted. For calls that may block, and show nothing to others, as a receive.
  void flush();
  // Until others may see what came of the decisions so far: before a send or a collective. Throws
  // DecisionError.
  void settle(const Meanwhile& meanwhile);
  // What is decided from now on is kept, for a program that goes back to here. REQUIRES: it is not
  // repeating.
  void restart_record();
  // The program has gone back to where the record begins: it gets the same again, and nobody hears
  // of it. REQUIRES: there is a record, and what was decided is settled.
  void repeat();
  // It has come to where it was. Throws DecisionError if it has asked for less than it did.
  void stop_repeating();
  // For MPI_Finalize: nothing more will be decided. Settles, and says farewell; then this process
  // may leave. Throws DecisionError.
  void finish(const Meanwhile& meanwhile);

  // For the links: a frame of the channel of decisions, from an authenticated process. What cannot
  // be from there is passed over.
  void handle(Replica from, std::span<const std::byte> frame);
  void lose_plane(std::int32_t plane);

  // Whether this process finds out answers. Once it does, it does for ever.
  bool is_leading() const;
  // So many decisions are kept for followers and for the program.
  std::size_t kept() const;

 private:
  enum class Next : std::uint8_t { refused, answered, own };
  enum class Recorded : std::uint8_t { no, since_checkpoint, repeated };
  mutable Mutex mutex_;
  using Lock = MutexLock<Mutex>;

  Context context() const RESPROUT_REQUIRES(mutex_) {
    return {{0}, {suspects_.data(), static_cast<std::uint32_t>(suspects_.size())}, {}};
  }
  Next next(std::uint32_t kind, bool is_poll, const Meanwhile& meanwhile) RESPROUT_REQUIRES(mutex_);
  bool maybe_open_next() RESPROUT_REQUIRES(mutex_);
  void keep_learned(const DecisionFrame& arrived, std::uint64_t first, std::uint64_t last)
      RESPROUT_REQUIRES(mutex_);
  bool maybe_skip_announcement() RESPROUT_REQUIRES(mutex_);
  void drain_events(const DecisionFrame* arrived) RESPROUT_REQUIRES(mutex_);
  void check(std::uint32_t kind, bool is_poll) const RESPROUT_REQUIRES(mutex_);
  void check_end() const RESPROUT_REQUIRES(mutex_);
  void expect_not_deposed() const RESPROUT_REQUIRES(mutex_);
  [[noreturn]] void diverge(const std::string& here, const std::string& there) const
      RESPROUT_REQUIRES(mutex_);
  std::string leader() const RESPROUT_REQUIRES(mutex_);

  std::optional<Bytes> again(std::uint32_t kind, bool is_poll) RESPROUT_REQUIRES(mutex_);
  void record(std::uint32_t kind, const std::optional<Bytes>& answer) RESPROUT_REQUIRES(mutex_);
  void append(Decision decision) RESPROUT_REQUIRES(mutex_);
  bool maybe_flush() RESPROUT_REQUIRES(mutex_);
  bool is_quiet() const RESPROUT_REQUIRES(mutex_);
  void drain(const DecisionFrame* arrived) RESPROUT_REQUIRES(mutex_);
  void send(const protocols::DecisionMessage& message) RESPROUT_REQUIRES(mutex_);
  template <typename Condition>
  void wait_until(const Meanwhile& meanwhile, Condition condition) RESPROUT_REQUIRES(mutex_);

  const Setup setup_;
  ChannelNetwork& network_;
  protocols::DecisionLog machine_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<Rank> suspects_ RESPROUT_GUARDED_BY(mutex_);
  // From machine_.released() + 1 on, as the driver knows it.
  std::deque<Decision> kept_ RESPROUT_GUARDED_BY(mutex_);
  std::uint64_t dropped_ RESPROUT_GUARDED_BY(mutex_) = 0;  // so many are kept no more
  Decision open_ RESPROUT_GUARDED_BY(mutex_);  // what the program follows now: what is left of it
  std::uint64_t refusals_ RESPROUT_GUARDED_BY(mutex_) = 0;    // counted, not said
  std::vector<Bytes> announced_ RESPROUT_GUARDED_BY(mutex_);  // by others, and not taken
  // The number of the last one that is known.
  std::uint64_t announced_last_ RESPROUT_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> has_news_ = false;  // written under the lock
  Recorded recorded_ RESPROUT_GUARDED_BY(mutex_) = Recorded::no;
  DecisionRecord record_ RESPROUT_GUARDED_BY(mutex_);
  // When the leader has said something last; monotonic ns.
  std::int64_t said_at_ RESPROUT_GUARDED_BY(mutex_) = 0;
};

}  // namespace resprout::runtime
