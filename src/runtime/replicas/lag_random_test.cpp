// Planes run the same random program, each at its own pace, with a narrow bound on how far one may
// be ahead; frames between them come late, planes are lost at any moment. All that live have to
// end, and nobody may ever be further ahead than the bound.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/replicas/lag.hpp"
#include "runtime/replicas/votes.hpp"

using namespace resprout;
using namespace resprout::runtime;
using protocols::VoteEvent;
using protocols::VoteMethod;

namespace {

struct Step {
  enum class Kind : std::uint8_t { send, post, receive, compare } kind;
  std::int32_t peer = 0;
};
using Script = std::vector<Step>;

// Receives come after their sends in one order of all steps, at any distance: such a program ends
// wherever messages are buffered. `is_blocking`: each is posted when it is waited for.
std::vector<Script> random_scripts(Random& random, std::int32_t ranks, bool is_blocking) {
  std::vector<Script> scripts(static_cast<std::size_t>(ranks));
  std::vector<std::pair<std::int32_t, std::int32_t>> sent;  // from, to; not received yet
  const auto of = [&](std::int32_t rank) -> Script& {
    return scripts[static_cast<std::size_t>(rank)];
  };
  const auto receive = [&](std::size_t which) {
    const auto [from, to] = sent[which];
    sent.erase(sent.begin() + static_cast<std::ptrdiff_t>(which));
    if (is_blocking) of(to).push_back({Step::Kind::post, from});
    of(to).push_back({Step::Kind::receive, from});
  };
  const auto any = [&] {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)));
  };
  for (std::uint64_t left = 20 + random.below(80); left > 0; --left) {
    switch (random.below(4)) {
      case 0: {  // a burst
        const std::int32_t from = any();
        const std::int32_t to = any();
        for (std::uint64_t n = 1 + random.below(8); n > 0 && from != to; --n) {
          of(from).push_back({Step::Kind::send, to});
          if (!is_blocking) of(to).push_back({Step::Kind::post, from});
          sent.emplace_back(from, to);
        }
        break;
      }
      case 1:
        of(any()).push_back({Step::Kind::compare, 0});
        break;
      default:
        for (std::uint64_t n = random.below(4); n > 0 && !sent.empty(); --n)
          receive(random.below(sent.size()));
    }
  }
  while (!sent.empty()) receive(0);
  return scripts;
}

class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed),
        planes_(static_cast<std::int32_t>(2 + random_.below(2))),
        ranks_(static_cast<std::int32_t>(2 + random_.below(3))),
        bound_(Lag::messages_min + random_.below(10)),
        method_(random_.chance(1, 2) ? VoteMethod::async : VoteMethod::async_hash),
        slow_(static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(planes_)))),
        kills_(random_.chance(1, 2) ? random_.below(static_cast<std::uint64_t>(planes_)) : 0),
        is_blocking_(random_.chance(1, 2)),
        scripts_(random_scripts(random_, ranks_, is_blocking_)) {
    for (std::int32_t plane = 0; plane < planes_; ++plane)
      for (std::int32_t rank = 0; rank < ranks_; ++rank)
        processes_.push_back(std::make_unique<Process>(*this, Replica{plane, rank}));
  }

  // Whether all that live come to their ends, with everything verified.
  bool run() {
    for (int step = 0; step < 200'000; ++step) {
      std::vector<std::function<void()>> actions;
      for (const auto& process : processes_) collect(*process, actions);
      if (actions.empty()) return is_over();
      actions[static_cast<std::size_t>(random_.below(actions.size()))]();
      // One plane is a fifth as fast, and stands still for whiles.
      if (random_.chance(1, 200)) slow_plane_stands_still_ = !slow_plane_stands_still_;
      if (kills_ > 0 && random_.chance(1, 300)) kill_one();
    }
    return false;
  }

  std::uint64_t bound() const { return bound_; }
  std::uint64_t ahead_max() const { return ahead_max_; }
  std::uint64_t open_max() const { return open_max_; }
  std::uint64_t held_up() const { return held_up_; }
  bool is_blocking() const { return is_blocking_; }
  bool has_killed() const { return has_killed_; }

 private:
  struct Process final : VoteNetwork, ChannelNetwork {
    Process(World& all, Replica replica)
        : world(all),
          self(replica),
          votes({.config = {all.method_, all.planes_, protocols::Unproven::own}, .self = replica},
                *this, [](const MessageName&, const VoteEvent&, std::span<const std::byte>) {}),
          lag({.self = replica,
               .planes = all.planes_,
               .bound = {all.bound_, 1 << 30},
               .open = [this] { return votes.load().open; }},
              *this) {}

    void send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) override {
      out[to].emplace_back([frame, from = self, copy = std::vector(bytes.begin(), bytes.end())](
                               Process& by) { by.votes.handle(from, frame, copy); });
    }
    void send(Replica to, Channel channel, std::span<const std::byte> frame) override {
      REQUIRE(channel == Channel::lags);
      out[to].emplace_back([from = self, copy = std::vector(frame.begin(), frame.end())](
                               Process& by) { by.lag.handle(from, copy); });
    }

    World& world;
    const Replica self;
    bool is_alive = true;
    std::size_t done = 0;
    std::uint64_t compared = 0;
    std::map<std::int32_t, std::uint64_t> sent;      // by receiver
    std::map<std::int32_t, std::uint64_t> received;  // by sender
    std::map<std::int32_t, std::uint64_t> arrived;   // in the plane, by sender
    std::map<Replica, std::deque<std::function<void(Process&)>>> out;
    std::vector<std::int32_t> to_hear;  // lost planes
    Votes votes;
    Lag lag;
  };
  using Actions = std::vector<std::function<void()>>;

  Process& at(Replica replica) {
    return *processes_[static_cast<std::size_t>(replica.plane * ranks_ + replica.rank)];
  }
  const Script& script_of(const Process& process) const {
    return scripts_[static_cast<std::size_t>(process.self.rank)];
  }
  bool is_at_end(const Process& process) const { return process.done == script_of(process).size(); }
  bool is_over() const {
    return std::all_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return !process->is_alive || (is_at_end(*process) && process->votes.are_all_over());
    });
  }
  static MessageName name(std::int32_t from, std::int32_t to, std::uint64_t number) {
    const auto of = from == to ? Stream::Of::contributions : Stream::Of::messages;
    return {{1, from, to, 5, of}, number};
  }
  static std::uint64_t digest_of(std::span<const std::byte>) { return 7; }

  void collect(Process& process, Actions& actions) {
    for (auto& [to, frames] : process.out)
      if (!frames.empty() && at(to).is_alive)
        actions.emplace_back([&frames = frames, &receiver = at(to)] {
          const auto take = std::move(frames.front());
          frames.pop_front();
          take(receiver);
        });
    if (!process.is_alive) return;
    if (!process.to_hear.empty())
      actions.emplace_back([&process] {
        process.votes.lose_plane(process.to_hear.back());
        process.lag.lose_plane(process.to_hear.back());
        process.to_hear.pop_back();
      });
    if (is_at_end(process)) return;
    const bool is_slow = process.self.plane == slow_;
    if (is_slow && slow_plane_stands_still_ && !is_only_one_left(process.self.plane)) {
      actions.emplace_back([this] { slow_plane_stands_still_ = false; });
      return;
    }
    const Step step = script_of(process)[process.done];
    // A receive is counted when its message is there: MPI has it, and the program asks for it.
    if (step.kind != Step::Kind::receive && !process.lag.has_room(1, 0)) {
      ++held_up_;
      return;
    }
    if (step.kind == Step::Kind::receive &&
        process.arrived[step.peer] == process.received[step.peer])
      return;
    for (int often = is_slow ? 1 : 5; often > 0; --often)
      actions.emplace_back([this, &process, step, at_step = process.done] {
        if (process.done == at_step) perform(process, step);
      });
  }

  bool is_only_one_left(std::int32_t plane) const {
    return std::all_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return !process->is_alive || process->self.plane == plane;
    });
  }

  void perform(Process& process, Step step) {
    const std::int32_t own = process.self.rank;
    ++process.done;
    switch (step.kind) {
      case Step::Kind::post:
        return;
      case Step::Kind::send: {
        process.lag.count(1, 0);
        const std::array<std::byte, 3> bytes{};
        process.votes.send(name(own, step.peer, ++process.sent[step.peer]), 7, bytes);
        ++at({process.self.plane, step.peer}).arrived[own];
        break;
      }
      case Step::Kind::receive: {
        process.lag.count(1, 0);
        const MessageName which = name(step.peer, own, ++process.received[step.peer]);
        process.votes.receive(which, digest_of);
        process.votes.take_own_copy(which, 7);
        break;
      }
      case Step::Kind::compare: {
        process.lag.count(1, 0);
        const MessageName which = name(own, own, ++process.compared);
        process.votes.send(which, 7);
        process.votes.receive(which, digest_of);
        process.votes.take_own_copy(which, 7);
        break;
      }
    }
    ahead_max_ = std::max(ahead_max_, process.lag.ahead().messages);
    open_max_ = std::max(open_max_, process.votes.load().open);
  }

  void kill_one() {
    const auto plane =
        static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(planes_)));
    if (!at({plane, 0}).is_alive) return;
    --kills_;
    has_killed_ = true;
    for (const auto& process : processes_) {
      if (process->self.plane != plane) {
        process->to_hear.push_back(plane);
        continue;
      }
      process->is_alive = false;
      for (auto& [to, frames] : process->out) frames.resize(random_.below(frames.size() + 1));
    }
  }

  Random random_;
  const std::int32_t planes_;
  const std::int32_t ranks_;
  const std::uint64_t bound_;
  const VoteMethod method_;
  const std::int32_t slow_;
  std::uint64_t kills_;
  bool has_killed_ = false;
  bool slow_plane_stands_still_ = false;
  std::uint64_t ahead_max_ = 0;
  std::uint64_t open_max_ = 0;
  std::uint64_t held_up_ = 0;
  const bool is_blocking_;
  const std::vector<Script> scripts_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace

TEST_CASE("lag: random programs end in all planes, whoever is slow or dies, within the bound") {
  int held_up = 0;
  int killed = 0;
  int at_bound = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    World world(seed);
    REQUIRE(world.run());
    // A receive that was posted before takes its message when that is there.
    if (world.is_blocking()) {
      CHECK(world.ahead_max() <= world.bound());
      CHECK(world.open_max() <= world.bound());
    }
    held_up += world.held_up() > 0 ? 1 : 0;
    killed += world.has_killed() ? 1 : 0;
    at_bound += world.ahead_max() >= world.bound() ? 1 : 0;
  }
  // It was all tried.
  CHECK(held_up > 1000);
  CHECK(killed > 300);
  CHECK(at_bound > 1000);
}
