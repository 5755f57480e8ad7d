// Jobs whose processes take turns on one thread, in an order that a seed decides: whatever happens
// between them happens again with the same seed.
//
// A process gives its turn away when its engine looks for frames. Frames arrive one by one, in the
// order of their sender. A process dies at any look or send, and what it has sent last may be lost
// with it. The others hear of that later, each in its own time, or, if it is suspected first, while
// it still runs.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "runtime/engine.hpp"

namespace resprout::runtime::testing {

// Thrown where a process ends.
struct Death : std::exception {};
// Nothing has come to an end for so long that nothing ever will.
struct Stuck : std::exception {};

// Whose turn it is.
class Turns {
 public:
  Turns(int processes, std::uint64_t seed)
      : random_(seed), processes_(static_cast<std::size_t>(processes)) {
    for (Process& process : processes_) process.pace = 1 + random_.below(pace_max);
  }

  Random& random() { return random_; }
  std::uint64_t count() const { return count_; }
  bool is_stuck() const { return count_ >= count_max; }

  // Calls `body(i)` for each process, with stacks of their own; returns when all have returned.
  // `body` catches whatever is thrown.
  void run(const std::function<void(int)>& body) {
    body_ = &body;
    for (int i = 0; i < static_cast<int>(processes_.size()); ++i) prepare(i);
    swapcontext(&caller_, context_of(pick()));
  }
  // Some process goes on, perhaps this one.
  void pass(int self) {
    ++count_;
    const int next = pick();
    if (next != self) swapcontext(context_of(self), context_of(next));
    if (is_stuck()) throw Stuck{};
  }

 private:
  static constexpr std::uint64_t count_max = 200000;
  static constexpr std::uint64_t pace_max = 8;
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  struct Process {
    ucontext_t context;
    std::uint64_t pace = 1;  // some are fast
    std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  };

  void prepare(int process) {
    running_.push_back(process);
    ucontext_t* context = context_of(process);
    getcontext(context);
    context->uc_stack.ss_sp = processes_[static_cast<std::size_t>(process)].stack.get();
    context->uc_stack.ss_size = stack_bytes;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(context, reinterpret_cast<void (*)()>(&Turns::enter), 3,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self), process);
  }
  static void enter(unsigned high, unsigned low, int process) {
    auto* turns = reinterpret_cast<Turns*>(std::uintptr_t{high} << 32 | low);
    (*turns->body_)(process);
    turns->leave(process);
  }
  void leave(int process) {
    std::erase(running_, process);
    setcontext(running_.empty() ? &caller_ : context_of(pick()));
  }
  int pick() {
    for (;;) {
      const int one = running_[random_.below(running_.size())];
      if (random_.below(pace_max) < processes_[static_cast<std::size_t>(one)].pace) return one;
    }
  }
  ucontext_t* context_of(int process) {
    return &processes_[static_cast<std::size_t>(process)].context;
  }

  Random random_;
  std::vector<Process> processes_;
  std::vector<int> running_;
  ucontext_t caller_;
  const std::function<void(int)>* body_ = nullptr;
  std::uint64_t count_ = 0;
};

// What becomes of a process when it has sent so many frames. Times are turns from there.
struct Fate {
  int sends = -1;  // it lives on
  std::uint64_t dies_after = 0;
  std::vector<std::uint64_t> known_after;  // by rank
};

class TurnsJob {
 public:
  TurnsJob(int ranks, std::uint64_t seed, bool shares_memory)
      : size_(ranks),
        turns_(ranks, seed),
        processes_(static_cast<std::size_t>(ranks)),
        links_(static_cast<std::size_t>(ranks * ranks)) {
    for (Link& link : links_)
      if (turns_.random().below(4) == 0) link.slowness = 1 + turns_.random().below(slowness_max);
    constexpr IdleStrategy looks_only{.spins = std::numeric_limits<int>::max(), .yields = 0};
    for (int rank = 0; rank < ranks; ++rank) {
      transports_.push_back(std::make_unique<TurnsTransport>(*this, rank, shares_memory));
      engines_.push_back(std::make_unique<Engine>(rank, ranks, *transports_.back(), looks_only));
    }
  }

  int size() const { return size_; }
  Turns& turns() { return turns_; }
  Engine& engine(int rank) { return *engines_[static_cast<std::size_t>(rank)]; }
  // It is dead, or somebody believes so.
  bool is_lost(int rank) const { return processes_[static_cast<std::size_t>(rank)].is_lost; }
  void decide(int rank, Fate fate) { process_of(rank).fate = std::move(fate); }

  // Each process runs `body` and then answers the others until they have all done so. False: they
  // got stuck.
  bool run(const std::function<void(int rank, Engine&)>& body) {
    int still_running = size_;
    turns_.run([&](int rank) {
      bool has_ended = false;
      try {
        body(rank, engine(rank));
        has_ended = true;
        --still_running;
        while (still_running > 0) engine(rank).tick();
      } catch (const Death&) {
        if (!has_ended) --still_running;
      } catch (const Stuck&) {
      }
    });
    return !turns_.is_stuck();
  }

 private:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t slowness_max = 32;

  struct Process {
    Fate fate;
    int sends = 0;
    std::uint64_t dies_at = never;
    std::vector<std::uint64_t> known_at;
    bool is_lost = false;
  };

  struct Frame {
    FrameHeader header;
    std::vector<std::byte> prefix;
    std::vector<std::byte> data;
  };
  struct Link {
    std::deque<Frame> sent;
    std::uint64_t slowness = 1;  // it delivers in one of so many turns
  };

  class TurnsTransport final : public Transport {
   public:
    TurnsTransport(TurnsJob& job, int self, bool shares_memory)
        : job_(job),
          self_(self),
          shares_memory_(shares_memory),
          is_closed_(static_cast<std::size_t>(job.size_)) {}

    bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                  std::span<const std::byte> data, Transfer&) override {
      job_.maybe_die(self_);
      if (is_closed_[static_cast<std::size_t>(peer)]) return true;
      auto& queue = job_.link(self_, peer).sent;
      if (queue.size() >= frames_max) return false;
      queue.push_back({header, {prefix.begin(), prefix.end()}, {data.begin(), data.end()}});
      job_.note_send(self_);
      return true;
    }

    bool progress(Receiver& receiver) override {
      job_.turns_.pass(self_);
      job_.spread_news();
      job_.maybe_die(self_);
      const auto peer = static_cast<int>(job_.turns_.random().below(job_.size_));
      return job_.is_delivering(peer, self_) && deliver(peer, receiver);
    }

    // What it had said has come by then, or is lost.
    void close_peer(int peer, Receiver& receiver) override {
      while (deliver(peer, receiver)) {
      }
      is_closed_[static_cast<std::size_t>(peer)] = true;
    }
    bool is_flushed() const override { return true; }
    bool shares_memory_with(int) const override { return shares_memory_; }

   private:
    static constexpr std::size_t frames_max = 3;

    bool deliver(int peer, Receiver& receiver) {
      auto& queue = job_.link(peer, self_).sent;
      if (queue.empty()) return false;
      const Frame frame = std::move(queue.front());
      queue.pop_front();
      if (!is_closed_[static_cast<std::size_t>(peer)])
        receiver.handle_frame(peer, frame.header, frame.prefix, frame.data, DataOwner::transport);
      return true;
    }

    TurnsJob& job_;
    const int self_;
    const bool shares_memory_;
    std::vector<bool> is_closed_;
  };

  Process& process_of(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  Link& link(int from, int to) { return links_[static_cast<std::size_t>(from * size_ + to)]; }
  bool is_delivering(int from, int to) {
    return turns_.random().below(link(from, to).slowness) == 0;
  }

  void note_send(int rank) {
    Process& process = process_of(rank);
    if (process.fate.sends != process.sends++) return;
    process.dies_at = turns_.count() + process.fate.dies_after;
    for (const std::uint64_t after : process.fate.known_after)
      process.known_at.push_back(turns_.count() + after);
  }

  void maybe_die(int rank) {
    Process& process = process_of(rank);
    if (turns_.count() < process.dies_at) return;
    process.dies_at = never;
    process.is_lost = true;
    for (int other = 0; other < size_; ++other) {
      auto& sent = link(rank, other).sent;
      if (turns_.random().below(2) == 0) sent.resize(turns_.random().below(sent.size() + 1));
    }
    throw Death{};
  }

  void spread_news() {
    for (int lost = 0; lost < size_; ++lost) {
      Process& process = process_of(lost);
      for (int rank = 0; rank < static_cast<int>(process.known_at.size()); ++rank) {
        std::uint64_t& known_at = process.known_at[static_cast<std::size_t>(rank)];
        if (rank == lost || turns_.count() < known_at) continue;
        known_at = never;
        process.is_lost = true;
        engine(rank).note_loss(lost);
      }
    }
  }

  const int size_;
  Turns turns_;
  std::vector<Process> processes_;
  std::vector<Link> links_;
  std::vector<std::unique_ptr<TurnsTransport>> transports_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace resprout::runtime::testing
