// How far this process may be ahead of its replicas.
//
// A lazy method lets a program go on before its messages are verified. What is not verified yet
// takes memory: here the requests that wait, in slower planes the copies and digests that have come
// too early. Replicas go through the same steps (a message sent, a message received, something
// given to or got from a collective) in the same order, so they compare how many they have done;
// who is too far ahead of the slowest one that lives waits at the beginning of its next call.
//
// Invariants
//  1. A process waits for steps of its replicas that it has done itself, and for verdicts of
//     messages that it has received. Both are earlier in the program than the call that waits; so
//     nobody waits in a circle (docs/how-to/stragglers.md).
//  2. A replica knows of all but `quantum() - 1` of this one's steps, and less than a quantum of
//     its bytes; within a quantum nobody waits.
//  3. A program that calls from several threads has no order that its replicas share: from its
//     second thread's first step on it is not held up.
//
// Every message asks twice and counts twice, so nothing is locked: steps only become more, and what
// is seen a moment late is a moment's wait, or a frame that is sent twice.
//
// Lazy Fault Detection for Redundant MPI, chapter 4 and Figure 5.5: incomplete requests over time.
// Thread rule: from any thread; `open` and ChannelNetwork must not call back.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <thread>

#include "protocols/digest_vote/message.hpp"
#include "runtime/idle.hpp"
#include "runtime/replicas/channels.hpp"
#include "runtime/replicas/replica.hpp"

namespace resprout::runtime {

// Steps, and the bytes that are kept for them somewhere until they are verified.
struct Steps {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

  static constexpr Steps no_bound() {
    return {std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()};
  }
  constexpr bool operator==(const Steps&) const = default;
};

class Lag {
 public:
  // What an incomplete request takes at most, its copies apart: request_memory_test.cpp.
  static constexpr std::uint64_t request_bytes = 448;
  // A collective is two steps.
  static constexpr std::uint64_t messages_min = 2;

  struct Setup {
    Replica self;
    std::int32_t planes = 2;
    Steps bound = Steps::no_bound();  // at least messages_min messages
    // How many requests of this process wait for a verdict.
    std::function<std::uint64_t()> open = [] { return std::uint64_t{0}; };
    IdleStrategy idle;
  };
  // ChannelNetwork reaches the replicas of `setup.self.rank` in the other planes.
  Lag(Setup setup, ChannelNetwork& network);
  Lag(const Lag&) = delete;
  Lag& operator=(const Lag&) = delete;

  // Returns when there is room for so many steps more, each with a request, and for `copies` bytes.
  // `meanwhile`: what is done again and again until then, without the lock; `before` once, if it
  // has to wait at all. More than the whole bound has room when nothing else is there.
  void wait_for_room(std::uint64_t messages, std::uint64_t copies,
                     const std::function<void()>& before, const std::function<void()>& meanwhile);
  // Whether wait_for_room would return at once.
  bool has_room(std::uint64_t messages, std::uint64_t copies);
  // This process has done so many steps, and others keep so many bytes of copies for them.
  void count(std::uint64_t messages, std::uint64_t copies);
  // The program has gone back, and does again what was counted; until it has come to where it was.
  void repeat(bool is_repeating);
  // It does no more, and holds nobody up.
  void finish();

  // For the links: a frame of the channel of lags. What cannot be from there is passed over.
  void handle(Replica from, std::span<const std::byte> frame);
  void lose_plane(std::int32_t plane);

  // By how much it is ahead of the slowest replica, as far as it knows; and was at most.
  Steps ahead() const;
  Steps ahead_max() const;

 private:
  // Steps that several threads count.
  struct Counted {
    std::atomic<std::uint64_t> messages = 0;
    std::atomic<std::uint64_t> bytes = 0;

    Steps load() const { return {messages.load(relaxed), bytes.load(relaxed)}; }
    void raise_to(const Steps& least);
  };
  static constexpr auto relaxed = std::memory_order_relaxed;

  Counted& own() { return done_[static_cast<std::size_t>(setup_.self.plane)]; }
  const Counted& own() const { return done_[static_cast<std::size_t>(setup_.self.plane)]; }
  Steps ahead_of_slowest() const;
  bool note_thread();
  void tell();

  const Setup setup_;
  const Steps quantum_;
  ChannelNetwork& network_;
  std::array<Counted, protocols::degree_max> done_{};  // by plane, as this process knows it
  Counted told_;                                       // what the others know of this one
  Counted ahead_max_;
  std::atomic<std::uint32_t> lost_planes_ = 0;  // bit k: plane k
  std::atomic<std::thread::id> thread_;         // the first of the program
  std::atomic<bool> has_threads_ = false;       // several
  std::atomic<bool> is_repeating_ = false;
};

}  // namespace resprout::runtime
