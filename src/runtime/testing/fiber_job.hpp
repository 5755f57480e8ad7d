// Jobs whose processes take turns (fiber_scheduler.hpp), each with an engine of its own.
//
// A process gives its turn away when its engine looks for frames. Frames arrive one by one, in the
// order of their sender. A process dies at any look or send, and what it has sent last may be lost
// with it. The others hear of that later, each in its own time, or, if it is suspected first, while
// it still runs.
#pragma once

#include <deque>
#include <limits>
#include <span>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/testing/fiber_scheduler.hpp"

namespace resprout::runtime::testing {

// Thrown where a process ends.
struct Death : std::exception {};

// What becomes of a process when it has sent so many frames. Times are turns from there.
struct Fate {
  int sends = -1;  // it lives on
  std::uint64_t dies_after = 0;
  std::vector<std::uint64_t> known_after;  // by rank
};

// Each so many ranks share memory, or everybody is alone; and those have boards (notice_board.hpp).
struct Hosts {
  int ranks_each = 1;
  bool have_boards = false;
};

class FiberJob {
 public:
  FiberJob(int ranks, std::uint64_t seed, Hosts hosts)
      : size_(ranks),
        hosts_(hosts),
        scheduler_(ranks, seed),
        processes_(static_cast<std::size_t>(ranks)),
        links_(static_cast<std::size_t>(ranks * ranks)) {
    for (Link& link : links_)
      if (scheduler_.random().below(4) == 0)
        link.slowness = 1 + scheduler_.random().below(slowness_max);
    constexpr IdleStrategy looks_only{.spins = std::numeric_limits<int>::max() / 2, .yields = 0};
    for (int rank = 0; rank < ranks; ++rank) {
      if (hosts.have_boards && rank % hosts.ranks_each == 0)
        boards_.emplace_back(NoticeBoard::notices_max);
      transports_.push_back(std::make_unique<FiberTransport>(*this, rank));
      engines_.push_back(std::make_unique<Engine>(rank, ranks, *transports_.back(), looks_only));
    }
  }

  int size() const { return size_; }
  FiberScheduler& scheduler() { return scheduler_; }
  Engine& engine(int rank) { return *engines_[static_cast<std::size_t>(rank)]; }
  // It is dead, or somebody believes so.
  bool is_lost(int rank) const { return processes_[static_cast<std::size_t>(rank)].is_lost; }
  void decide(int rank, Fate fate) { process_of(rank).fate = std::move(fate); }
  // What becomes of it does so when it has sent so many more frames, unless it has already.
  void hasten(int rank, int sends) {
    Process& process = process_of(rank);
    if (process.fate.sends >= process.sends) process.fate.sends = process.sends + sends;
  }

  // Each process runs `body` and then answers the others until they have all done so and
  // everything `is_settled`. False: they got stuck.
  bool run(const std::function<void(int rank, Engine&)>& body,
           const std::function<bool()>& is_settled) {
    int still_running = size_;
    bool is_over = false;
    scheduler_.run([&](int rank) {
      bool has_ended = false;
      try {
        body(rank, engine(rank));
        has_ended = true;
        --still_running;
        while (!(is_over = is_over || (still_running == 0 && is_settled()))) engine(rank).tick();
      } catch (const Death&) {
        if (!has_ended) --still_running;
      } catch (const Stuck&) {
      }
    });
    return !scheduler_.is_stuck();
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

  class FiberTransport final : public Transport {
   public:
    FiberTransport(FiberJob& job, int self)
        : job_(job), self_(self), is_closed_(static_cast<std::size_t>(job.size_)) {}

    bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                  std::span<const std::byte> data, Transfer&) override {
      job_.maybe_die(self_);
      if (is_closed_[static_cast<std::size_t>(peer)]) return true;
      auto& queue = job_.link(self_, peer).sent;
      if (queue.size() >= job_.room_) return false;
      queue.push_back({header, {prefix.begin(), prefix.end()}, {data.begin(), data.end()}});
      job_.note_send(self_);
      return true;
    }

    bool progress(Receiver& receiver) override {
      job_.scheduler_.pass(self_);
      job_.spread_news();
      job_.maybe_die(self_);
      const auto peer = static_cast<int>(job_.scheduler_.random().below(job_.size_));
      return job_.is_delivering(peer, self_) && deliver(peer, receiver);
    }

    // What it had said has come by then, or is lost.
    void close_peer(int peer, Receiver& receiver) override {
      while (deliver(peer, receiver)) {
      }
      is_closed_[static_cast<std::size_t>(peer)] = true;
    }
    bool is_flushed() const override { return true; }
    bool shares_memory_with(int peer) const override {
      return job_.host_of(peer) == job_.host_of(self_);
    }
    NoticeBoard board() const override {
      if (!job_.hosts_.have_boards) return {};
      return NoticeBoard(reinterpret_cast<std::byte*>(job_.boards_[job_.host_of(self_)].data()));
    }

   private:
    bool deliver(int peer, Receiver& receiver) {
      auto& queue = job_.link(peer, self_).sent;
      if (queue.empty()) return false;
      Frame& frame = job_.arrived_.emplace_back(std::move(queue.front()));
      queue.pop_front();
      const bool stays = shares_memory_with(peer) && job_.scheduler_.random().below(2) == 0;
      if (!is_closed_[static_cast<std::size_t>(peer)])
        receiver.handle_frame(peer, frame.header, frame.prefix, frame.data,
                              stays ? DataOwner::shared : DataOwner::transport);
      if (!stays) job_.arrived_.pop_back();
      return true;
    }

    FiberJob& job_;
    const int self_;
    std::vector<bool> is_closed_;
  };

  Process& process_of(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  std::size_t host_of(int rank) const { return static_cast<std::size_t>(rank / hosts_.ranks_each); }
  Link& link(int from, int to) { return links_[static_cast<std::size_t>(from * size_ + to)]; }
  bool is_delivering(int from, int to) {
    return scheduler_.random().below(link(from, to).slowness) == 0;
  }

  void note_send(int rank) {
    Process& process = process_of(rank);
    if (process.fate.sends != process.sends++) return;
    process.dies_at = scheduler_.count() + process.fate.dies_after;
    for (const std::uint64_t after : process.fate.known_after)
      process.known_at.push_back(scheduler_.count() + after);
  }

  void maybe_die(int rank) {
    Process& process = process_of(rank);
    if (scheduler_.count() < process.dies_at) return;
    process.dies_at = never;
    process.is_lost = true;
    for (int other = 0; other < size_; ++other) {
      auto& sent = link(rank, other).sent;
      if (scheduler_.random().below(2) == 0)
        sent.resize(scheduler_.random().below(sent.size() + 1));
    }
    throw Death{};
  }

  void spread_news() {
    for (int lost = 0; lost < size_; ++lost) {
      Process& process = process_of(lost);
      for (int rank = 0; rank < static_cast<int>(process.known_at.size()); ++rank) {
        std::uint64_t& known_at = process.known_at[static_cast<std::size_t>(rank)];
        if (rank == lost || scheduler_.count() < known_at) continue;
        known_at = never;
        process.is_lost = true;
        engine(rank).report_failure(lost);
      }
    }
  }

  const int size_;
  const Hosts hosts_;
  FiberScheduler scheduler_;
  const std::size_t room_ = 1 + scheduler_.random().below(3);  // of each link, in frames
  std::vector<Process> processes_;
  std::vector<Link> links_;
  std::deque<Frame> arrived_;                       // in memory that their receivers go on reading
  std::vector<std::vector<std::uint64_t>> boards_;  // by host
  std::vector<std::unique_ptr<FiberTransport>> transports_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace resprout::runtime::testing
