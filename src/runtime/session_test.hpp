// Jobs of threads for the tests of sessions: each rank a thread with an engine of its own, and a
// transport in memory between them.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/collectives.hpp"
#include "runtime/engine.hpp"

namespace resprout::runtime {

struct Frame {
  int from;
  FrameHeader header;
  std::vector<std::byte> prefix;
  std::vector<std::byte> data;
};

// Queues between all pairs, with little room, so that senders are refused now and then.
class Wire {
 public:
  explicit Wire(int size)
      : size_(size),
        queues_(static_cast<std::size_t>(size * size)),
        cuts_(static_cast<std::size_t>(size * size)) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }
  std::deque<Frame>& queue(int from, int to) { return queues_[index_of(from, to)]; }
  std::mutex mutex;
  // Of all frames so far, by kind of message.
  struct Count {
    std::atomic<int> frames{0};
    std::atomic<std::size_t> bytes{0};
  };
  std::array<Count, 16> sent;
  // From now on frames from one to the other vanish, and nobody is told.
  void cut(int from, int to) { cuts_[index_of(from, to)] = true; }
  bool is_cut(int from, int to) const { return cuts_[index_of(from, to)]; }
  // The first so many ranks are a host with a board, the next so many another one, and so on.
  void make_hosts(int ranks_per_host) {
    ranks_per_host_ = ranks_per_host;
    for (int first = 0; first < size_; first += ranks_per_host)
      boards_.emplace_back(NoticeBoard::notices_max);
  }
  bool are_on_one_host(int one, int other) const {
    return one / ranks_per_host_ == other / ranks_per_host_;
  }
  bool has_hosts() const { return ranks_per_host_ > 0; }
  NoticeBoard board_of(int rank) {
    if (!has_hosts()) return {};
    auto& words = boards_[static_cast<std::size_t>(rank / ranks_per_host_)];
    return NoticeBoard(reinterpret_cast<std::byte*>(words.data()));
  }
  // Of all ranks, up to 16.
  DeathMarks death_marks() {
    return {death_marks_.data(), {ranks_.data(), static_cast<std::size_t>(size_)}};
  }
  // As the kernel does when `rank` dies.
  void mark_death(int rank) {
    const auto size = static_cast<std::size_t>(size_);
    const auto place = static_cast<std::size_t>(rank);
    auto* const mutexes = reinterpret_cast<pthread_mutex_t*>(death_marks_.data());
    auto* const owners = reinterpret_cast<DeathMarks::Owner*>(mutexes + size);
    owners[place].pid = std::numeric_limits<pid_t>::max();  // of nobody
    auto& word = *reinterpret_cast<std::uint32_t*>(mutexes + place);
    std::atomic_ref(word).store(FUTEX_OWNER_DIED, std::memory_order_release);
  }
  Count& sent_as(MessageKind kind) { return sent[static_cast<std::size_t>(kind)]; }

 private:
  std::size_t index_of(int from, int to) const {
    return static_cast<std::size_t>(from * size_ + to);
  }

  int size_;
  int ranks_per_host_ = 0;
  std::array<int, 64> ranks_;
  alignas(64) std::array<std::byte, 16 * DeathMarks::bytes_each> death_marks_{};
  std::vector<std::vector<std::uint64_t>> boards_;
  std::vector<std::deque<Frame>> queues_;
  std::vector<std::atomic<bool>> cuts_;
};

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(Wire& wire, int self, int size, bool shares_memory)
      : wire_(wire), self_(self), size_(size), shares_memory_(shares_memory) {}

  // Says so, which lets broadcasts over a star go directly. It has no such memory to give, so the
  // roots of large ones take a machine.
  bool shares_memory_with(int peer) const override {
    return wire_.has_hosts() ? wire_.are_on_one_host(self_, peer) : shares_memory_;
  }
  NoticeBoard board() const override { return wire_.board_of(self_); }
  DeathMarks death_marks() const override { return wire_.death_marks(); }

  bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                std::span<const std::byte> data, Transfer&) override {
    const std::lock_guard guard(wire_.mutex);
    auto& queue = wire_.queue(self_, peer);
    if (queue.size() >= 2) return is_closed_[static_cast<std::size_t>(peer)];
    wire_.sent_as(header.message.kind).frames += 1;
    wire_.sent_as(header.message.kind).bytes += data.size();
    if (wire_.is_cut(self_, peer)) return true;
    queue.push_back({self_, header, {prefix.begin(), prefix.end()}, {data.begin(), data.end()}});
    return true;
  }

  bool progress(Receiver& receiver) override {
    bool has_moved = false;
    for (int peer = 0; peer < size_; ++peer) {
      std::deque<Frame> arrived;
      {
        const std::lock_guard guard(wire_.mutex);
        arrived.swap(wire_.queue(peer, self_));
      }
      for (const Frame& frame : arrived)
        receiver.handle_frame(frame.from, frame.header, frame.prefix, frame.data,
                              DataOwner::transport);
      heard_[static_cast<std::size_t>(peer)] += arrived.size();
      has_moved = has_moved || !arrived.empty();
    }
    return has_moved;
  }

  void close_peer(int peer, Receiver&) override {
    is_closed_[static_cast<std::size_t>(peer)] = true;
  }
  bool is_flushed() const override { return true; }
  std::uint64_t heard_of(int peer) const override { return heard_[static_cast<std::size_t>(peer)]; }

 private:
  Wire& wire_;
  int self_;
  int size_;
  bool shares_memory_;
  std::array<bool, 64> is_closed_{};
  std::array<std::uint64_t, 64> heard_{};
};

class Sum final : public Combiner {
 public:
  bool is_commutative() const override { return true; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    const auto* from = reinterpret_cast<const long*>(lower.data());
    auto* into = reinterpret_cast<long*>(upper.data());
    for (std::size_t i = 0; i < upper.size() / sizeof(long); ++i) into[i] += from[i];
  }
};

// A job of `size` threads. A rank that dies stops being scheduled; the others hear of it.
struct Job {
  // With `ranks_per_host` the ranks of a host share memory and a board, else there is no board.
  explicit Job(int ranks, bool shares_memory = false, int ranks_per_host = 0)
      : size(ranks), wire(ranks) {
    if (ranks_per_host > 0) wire.make_hosts(ranks_per_host);
    for (int rank = 0; rank < size; ++rank) {
      transports.push_back(std::make_unique<MemoryTransport>(wire, rank, size, shares_memory));
      engines.push_back(std::make_unique<Engine>(rank, size, *transports.back(), IdleStrategy{}));
    }
  }

  void run(const std::function<void(int rank, Engine&, Session&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        Engine& engine = *engines[static_cast<std::size_t>(rank)];
        Lock lock = engine.lock();
        std::vector<int> everybody(static_cast<std::size_t>(size));
        std::iota(everybody.begin(), everybody.end(), 0);
        Session& session = engine.open_session(lock, everybody);
        lock.unlock();
        body(rank, engine, session);
        // Others may still need this rank: it answers until the last has ended.
        running.fetch_sub(1);
        while (running.load() > 0) {
          if (!is_dead[static_cast<std::size_t>(rank)]) engine.tick();
          std::this_thread::yield();
        }
      });
    for (auto& thread : threads) thread.join();
  }

  void die(int rank) {
    is_dead[static_cast<std::size_t>(rank)] = true;
    for (int other = 0; other < size; ++other)
      if (other != rank) engines[static_cast<std::size_t>(other)]->report_failure(rank);
  }

  int size;
  Wire wire;
  std::vector<std::unique_ptr<MemoryTransport>> transports;
  std::vector<std::unique_ptr<Engine>> engines;
  std::array<std::atomic<bool>, 64> is_dead{};
  std::atomic<int> running{size};
};

inline long allreduce(Engine& engine, Session& session, long value) {
  Lock lock = engine.lock();
  Sum sum;
  long result = -1;
  allreduce(
      session, lock, ReduceSpec{}, std::as_bytes(std::span(&value, 1)), sum,
      [&](std::span<const std::byte> bytes) { std::memcpy(&result, bytes.data(), sizeof result); });
  return result;
}

}  // namespace resprout::runtime
