// Random traffic between real processes over any transport, checked to the last byte.
//
// Each process sends a number of frames of random size to random peers and receives what the others
// send; contents follow from (sender, receiver, number), so every receiver knows what is due.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "core/random.hpp"
#include "runtime/testing/processes.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime::testing {

inline constexpr int traffic_procs_max = 20;

// What the processes of one test see together.
struct TrafficBoard {
  std::atomic<int> ready;
  std::atomic<int> finished;
  std::atomic<unsigned> dead;                            // a bit per rank, set after the kill
  std::atomic<std::uint64_t> frames[traffic_procs_max];  // received so far
  std::atomic<int> ports[traffic_procs_max];
};

struct TrafficPlan {
  int procs = 2;
  int frames = 200;  // that each sends to each
  std::size_t bytes_max = std::size_t{1} << 20;
  std::uint64_t seed = 1;
  int late_ms = 0;        // rank 0 receives nothing for so long
  bool endless = false;   // frames are sent until the process is killed
  bool in_arena = false;  // data lies in shared memory where there is some
};

class Traffic final : public Receiver {
 public:
  Traffic(int self, const TrafficPlan& plan, Transport& transport, TrafficBoard& board)
      : self_(self),
        plan_(plan),
        transport_(transport),
        board_(board),
        out_(count()),
        in_(count()) {}

  void run() {
    if (self_ == 0) nap_ms(plan_.late_ms);
    while (!is_complete()) {
      handle_deaths();
      bool moved = false;
      for (int to = 0; to < plan_.procs; ++to) moved = offer(to) || moved;
      moved = transport_.progress(*this) || moved;
      if (!moved) sched_yield();
    }
    for (const auto& out : out_) expect(out.transfer.pending == 0, "no transfer is left pending");
    expect(payloads_.empty(), "no payload is left over");
    ++board_.finished;
    // Others may still need what this process has to pass on.
    while (board_.finished + std::popcount(board_.dead.load()) < plan_.procs) {
      handle_deaths();
      if (!transport_.progress(*this)) sched_yield();
    }
  }

  std::byte* allocate_payload(int, const FrameHeader&, std::size_t bytes) override {
    expect(bytes > 0, "payload memory is asked for bytes only");
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    payloads_.insert(memory);
    return memory;
  }
  void abandon_payload(int peer, std::byte* payload) override {
    expect((board_.dead & (1u << peer)) != 0, "only frames of the dead are abandoned");
    release(payload);
  }
  void handle_broken_peer(int peer) override { broken_ |= 1u << peer; }

  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                    std::span<const std::byte> data, DataOwner owner) override {
    Direction& in = in_[static_cast<std::size_t>(peer)];
    expect(header.operation == in.next, "frames arrive in order, none twice, none missing");
    expect(header.communicator == 77 && header.message.from == rank_at(peer) &&
               header.message.to == rank_at(self_),
           "the header arrives as it was sent");
    Random random(seed(peer, self_, in.next));
    const std::vector<std::byte> due_prefix = bytes(random, random_size(random, 300));
    const std::vector<std::byte> due_data = bytes(random, random_size(random, plan_.bytes_max));
    expect(std::ranges::equal(prefix, due_prefix), "the prefix arrives as it was sent");
    expect(std::ranges::equal(data, due_data), "the data arrives as it was sent");
    expect(reinterpret_cast<std::uintptr_t>(data.data()) % 16 == 0 || data.empty(),
           "data is aligned");
    if (owner == DataOwner::receiver) release(const_cast<std::byte*>(data.data()));
    ++in.next;
    ++board_.frames[self_];
  }

  unsigned broken() const { return broken_; }

 private:
  struct Direction {
    std::uint64_t next = 0;
    std::vector<std::byte> prefix;
    std::byte* data = nullptr;  // of the frame that is being sent
    std::size_t data_bytes = 0;
    bool is_shared = false;
    bool is_prepared = false;
    Transfer transfer;
  };

  std::size_t count() const { return static_cast<std::size_t>(plan_.procs); }
  bool is_dead(int rank) const { return (closed_ & (1u << rank)) != 0; }

  std::uint64_t seed(int from, int to, std::uint64_t number) const {
    std::uint64_t state = plan_.seed * 1000003 + static_cast<std::uint64_t>(from * 64 + to);
    return splitmix64(state) + number;
  }
  // Mostly small, sometimes up to the maximum.
  static std::size_t random_size(Random& random, std::size_t bytes_max) {
    switch (random.below(8)) {
      case 0:
        return 0;
      case 1:
        return random.below(bytes_max + 1);
      case 2:
        return random.below(std::min<std::size_t>(bytes_max, 70000) + 1);
      default:
        return random.below(std::min<std::size_t>(bytes_max, 100) + 1);
    }
  }
  static std::vector<std::byte> bytes(Random& random, std::size_t length) {
    std::vector<std::byte> out(length);
    for (std::size_t i = 0; i < length; i += 8) {
      const std::uint64_t word = random.next();
      std::memcpy(out.data() + i, &word, std::min<std::size_t>(8, length - i));
    }
    return out;
  }

  bool is_complete() const {
    if (plan_.endless && !is_dead_any()) return false;
    for (int peer = 0; peer < plan_.procs; ++peer) {
      if (peer == self_ || is_dead(peer)) continue;
      const auto i = static_cast<std::size_t>(peer);
      const auto frames = static_cast<std::uint64_t>(plan_.frames);
      if (in_[i].next < frames || out_[i].next < frames || out_[i].transfer.pending != 0)
        return false;
    }
    return transport_.is_flushed();
  }
  bool is_dead_any() const { return closed_ != 0; }

  void handle_deaths() {
    const unsigned news = board_.dead & ~closed_;
    for (int peer = 0; peer < plan_.procs; ++peer)
      if ((news & (1u << peer)) != 0) {
        transport_.close_peer(peer, *this);
        closed_ |= 1u << peer;
        Transfer none;
        expect(transport_.try_send(peer, {}, {}, {}, none), "what is sent to the dead vanishes");
      }
  }

  bool offer(int to) {
    Direction& out = out_[static_cast<std::size_t>(to)];
    if (to == self_ || is_dead(to) || out.transfer.pending != 0) return false;
    if (out.next >= static_cast<std::uint64_t>(plan_.frames)) return false;
    if (!out.is_prepared) prepare(to, out);
    FrameHeader header;
    header.communicator = 77;
    header.operation = out.next;
    header.message.from = rank_at(self_);
    header.message.to = rank_at(to);
    if (!transport_.try_send(to, header, out.prefix, {out.data, out.data_bytes}, out.transfer))
      return false;
    std::ranges::fill(out.prefix, std::byte{0xee});  // it was copied
    ++out.next;
    out.is_prepared = false;
    return true;
  }

  void prepare(int to, Direction& out) {
    Random random(seed(self_, to, out.next));
    out.prefix = bytes(random, random_size(random, 300));
    const std::vector<std::byte> data = bytes(random, random_size(random, plan_.bytes_max));
    // Blocks in the arena stay: only the end of the program tells that nobody looks any more.
    if (!out.is_shared) std::free(out.data);
    out.data = plan_.in_arena ? transport_.allocate_shared(data.size()) : nullptr;
    out.is_shared = out.data != nullptr;
    if (!out.is_shared) out.data = static_cast<std::byte*>(std::malloc(data.size() + 1));
    out.data_bytes = data.size();
    if (!data.empty()) std::memcpy(out.data, data.data(), data.size());
    out.is_prepared = true;
  }

  void release(std::byte* payload) {
    expect(payloads_.erase(payload) == 1, "payload memory is what was allocated, once");
    std::free(payload);
  }

  const int self_;
  const TrafficPlan plan_;
  Transport& transport_;
  TrafficBoard& board_;
  std::vector<Direction> out_, in_;
  std::set<std::byte*> payloads_;
  unsigned closed_ = 0;
  unsigned broken_ = 0;
};

}  // namespace resprout::runtime::testing
