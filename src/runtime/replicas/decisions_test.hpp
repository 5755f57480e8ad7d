// The replicas of one rank for tests of their decisions: frames on their way between them, which
// the test delivers, in any order that keeps those between two of them in order.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "runtime/replicas/decisions.hpp"

namespace resprout::runtime::testing {

constexpr std::int32_t rank_of_replicas = 5;

class DecidingReplicas {
 public:
  struct Case {
    std::int32_t planes = 2;
    std::uint64_t window = 1024;
    std::int64_t quiet_ns = INT64_MAX;  // refusals are said only when they have to be
  };

  explicit DecidingReplicas(const Case& given) {
    for (std::int32_t plane = 0; plane < given.planes; ++plane)
      processes_.push_back(std::make_unique<Process>(*this, given, plane));
  }

  Decisions& operator[](int plane) { return at(plane).decisions; }
  int planes() const { return static_cast<int>(processes_.size()); }
  bool is_alive(int plane) const { return processes_[static_cast<std::size_t>(plane)]->is_alive; }
  std::size_t frames_sent() const { return frames_sent_; }

  // The first frame from one plane to another. REQUIRES: there is one.
  void deliver(int from, int to) {
    auto& queue = on_wire_[{from, to}];
    const auto frame = std::move(queue.front());
    queue.pop_front();
    if (is_alive(to)) at(to).decisions.handle({from, rank_of_replicas}, frame);
  }
  // The pairs of planes between which something is on its way.
  std::vector<std::pair<int, int>> pending() const {
    std::vector<std::pair<int, int>> pairs;
    for (const auto& [pair, frames] : on_wire_)
      if (!frames.empty()) pairs.push_back(pair);
    return pairs;
  }
  void deliver_all() {
    for (auto pairs = pending(); !pairs.empty(); pairs = pending())
      for (const auto& [from, to] : pairs) deliver(from, to);
  }
  Decisions::Meanwhile delivering() {
    return [this] { deliver_all(); };
  }

  // What it has sent may still arrive, up to any point; nobody knows yet.
  void kill(int plane, Random& random) {
    at(plane).is_alive = false;
    for (auto& [pair, frames] : on_wire_)
      if (pair.first == plane) frames.resize(random.below(frames.size() + 1));
  }
  // Nothing of it arrives, and all know.
  void lose(int plane) {
    at(plane).is_alive = false;
    for (auto& [pair, frames] : on_wire_)
      if (pair.first == plane) frames.clear();
    for (const auto& process : processes_)
      if (process->is_alive) process->decisions.lose_plane(plane);
  }

 private:
  struct Process final : ChannelNetwork {
    Process(DecidingReplicas& all, const Case& given, std::int32_t plane)
        : replicas(all),
          self(plane),
          decisions({.self = {plane, rank_of_replicas},
                     .planes = given.planes,
                     .window = given.window,
                     .quiet_ns = given.quiet_ns},
                    *this) {}

    void send(Replica to, Channel channel, std::span<const std::byte> frame) override {
      if (channel != Channel::decisions || to.rank != rank_of_replicas) return;
      ++replicas.frames_sent_;
      replicas.on_wire_[{self, to.plane}].emplace_back(frame.begin(), frame.end());
    }

    DecidingReplicas& replicas;
    int self;
    bool is_alive = true;
    Decisions decisions;
  };
  Process& at(int plane) { return *processes_[static_cast<std::size_t>(plane)]; }

  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> on_wire_;
  std::size_t frames_sent_ = 0;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace resprout::runtime::testing
