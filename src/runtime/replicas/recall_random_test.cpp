// Planes run the same random program; processes die at any moment, and what they had said last is
// lost with them. As long as somebody of every rank lives, all who live come to their ends with
// what a run without losses gives them, to the last bit; or, if they receive from anybody, with
// what others of their rank have.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/replicas/recall.hpp"
#include "runtime/replicas/recalled_collective.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

using Value = std::uint64_t;

struct Step {
  enum class Kind : std::uint8_t { send, receive, receive_any, broadcast, allreduce } kind;
  std::int32_t peer = 0;  // of a broadcast: its root
};
using Script = std::vector<Step>;

enum class Receives : std::uint8_t { named, from_anybody };

std::vector<Script> random_scripts(Random& random, std::int32_t ranks, Receives receives) {
  const Step::Kind receive =
      receives == Receives::named ? Step::Kind::receive : Step::Kind::receive_any;
  std::vector<Script> scripts(static_cast<std::size_t>(ranks));
  std::deque<std::pair<std::int32_t, std::int32_t>> sent;  // from, to; not received yet
  const auto any = [&] {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)));
  };
  const auto of = [&](std::int32_t rank) -> Script& {
    return scripts[static_cast<std::size_t>(rank)];
  };
  const auto receive_one = [&] {
    of(sent.front().second).push_back({receive, sent.front().first});
    sent.pop_front();
  };
  for (std::uint64_t left = 15 + random.below(40); left > 0; --left) {
    const std::int32_t a = any();
    switch (random.below(5)) {
      case 0:
      case 1:
        if (const std::int32_t b = any(); a != b) {
          of(a).push_back({Step::Kind::send, b});
          sent.emplace_back(a, b);
        }
        break;
      case 2:
        for (std::uint64_t n = random.below(4); n > 0 && !sent.empty(); --n) receive_one();
        break;
      case 3:
        for (Script& script : scripts) script.push_back({Step::Kind::broadcast, a});
        break;
      default:
        for (Script& script : scripts) script.push_back({Step::Kind::allreduce, 0});
    }
  }
  while (!sent.empty()) receive_one();
  return scripts;
}

Value mixed(Value a, Value b) {
  std::uint64_t state = a * 3 + b;
  return splitmix64(state);
}

Value sum_of(const std::vector<Value>& values) {
  return std::accumulate(values.begin(), values.end(), Value{0}, mixed);
}

class World {
 public:
  explicit World(std::uint64_t seed, bool may_lose_a_rank = false,
                 Receives receives = Receives::named)
      : random_(seed),
        planes_(static_cast<std::int32_t>(2 + random_.below(2))),
        ranks_(static_cast<std::int32_t>(2 + random_.below(3))),
        kills_(random_.below(static_cast<std::uint64_t>(ranks_ * (planes_ - 1)) + 1)),
        kept_bytes_(200 + random_.below(3000)),
        may_lose_a_rank_(may_lose_a_rank),
        scripts_(random_scripts(random_, ranks_, receives)),
        decided_(static_cast<std::size_t>(ranks_)),
        native_(static_cast<std::size_t>(planes_)) {
    for (std::int32_t plane = 0; plane < planes_; ++plane)
      for (std::int32_t rank = 0; rank < ranks_; ++rank)
        processes_.push_back(std::make_unique<Process>(*this, Replica{plane, rank}));
    everybody_.resize(static_cast<std::size_t>(ranks_));
    std::iota(everybody_.begin(), everybody_.end(), 0);
  }

  // Whether all that live have come to an end.
  bool run() {
    for (int step = 0; step < 200'000; ++step) {
      std::vector<std::function<void()>> actions;
      for (const auto& process : processes_) collect(*process, actions);
      // Looking at what has come may have somebody ask for more.
      for (const auto& process : processes_)
        if (actions.empty()) collect(*process, actions);
      if (actions.empty() || has_hopeless_) return has_hopeless_ || is_over();
      actions[static_cast<std::size_t>(random_.below(actions.size()))]();
      if (kills_ > 0 && random_.chance(1, 40)) kill_one();
    }
    return false;
  }

  // What those who have come to their ends have there, by rank; of one rank they differ if there is
  // more than one.
  std::vector<std::vector<Value>> ends() const {
    std::vector<std::vector<Value>> ends(static_cast<std::size_t>(ranks_));
    for (const auto& process : processes_) {
      auto& values = ends[static_cast<std::size_t>(process->self.rank)];
      if (!is_at_end(*process) || std::ranges::count(values, process->state) != 0) continue;
      values.push_back(process->state);
    }
    return ends;
  }
  void spare_everybody() { kills_ = 0; }
  int killed() const { return killed_; }
  bool has_gap_everywhere() const {
    std::vector<bool> gaps(static_cast<std::size_t>(planes_));
    for (const auto& process : processes_)
      if (!process->is_alive) gaps[static_cast<std::size_t>(process->self.plane)] = true;
    return std::ranges::count(gaps, true) == planes_;
  }
  bool has_hopeless() const { return has_hopeless_; }
  bool has_own_sums() const { return has_own_sums_; }
  bool has_decided_for_lost() const { return has_decided_for_lost_; }

 private:
  struct Process final : ChannelNetwork {
    Process(World& all, Replica replica)
        : world(all),
          self(replica),
          recall({replica, all.planes_, all.ranks_, all.kept_bytes_}, *this) {}
    void send(Replica to, Channel channel, std::span<const std::byte> frame) override {
      REQUIRE(channel == Channel::recalls);
      out[to].emplace_back(frame.begin(), frame.end());
    }

    World& world;
    const Replica self;
    bool is_alive = true;
    bool is_hopeless = false;
    std::size_t done = 0;
    Value state = 1;
    std::uint64_t collectives = 0;
    std::size_t wildcards = 0;  // that it has received
    bool has_entered = false;   // the next collective, in its plane
    std::optional<MessageName> asked;
    std::optional<RecalledCollective> recalled;
    std::map<std::int32_t, std::uint64_t> sent;      // by receiver
    std::map<std::int32_t, std::uint64_t> received;  // by sender
    std::map<Replica, std::deque<std::vector<std::byte>>> out;
    std::vector<Replica> to_hear;
    Recall recall;
  };
  // What the MPI library of a plane has.
  struct Native {
    std::map<std::pair<std::int32_t, std::int32_t>, std::deque<Value>> messages;  // from, to
    std::map<std::uint64_t, std::map<std::int32_t, Value>> collectives;  // by number; who entered
  };
  using Actions = std::vector<std::function<void()>>;

  Process& at(Replica replica) {
    return *processes_[static_cast<std::size_t>(replica.plane * ranks_ + replica.rank)];
  }
  Native& native_of(const Process& process) {
    return native_[static_cast<std::size_t>(process.self.plane)];
  }
  bool is_at_end(const Process& process) const {
    return process.done == scripts_[static_cast<std::size_t>(process.self.rank)].size();
  }
  bool is_over() const {
    return std::ranges::all_of(processes_, [&](const auto& process) {
      return !process->is_alive || process->is_hopeless || is_at_end(*process);
    });
  }
  bool knows_of_gap(const Process& process) const {
    for (std::int32_t rank = 0; rank < ranks_; ++rank)
      if (!process.recall.is_alive({process.self.plane, rank})) return true;
    return false;
  }

  static MessageName message(std::int32_t from, std::int32_t to, std::uint64_t number) {
    return {{1, from, to, 5, Stream::Of::messages}, number};
  }
  static MessageName contribution(const Process& process) {
    return {{1, process.self.rank, process.self.rank, 0, Stream::Of::contributions},
            process.collectives + 1};
  }
  static std::span<const std::byte> bytes_of(const Value& value) {
    return std::as_bytes(std::span(&value, 1));
  }
  static Value value_of(std::span<const std::byte> bytes) {
    Value value = 0;
    REQUIRE(bytes.size() == sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  void collect(Process& process, Actions& actions) {
    for (auto& [to, frames] : process.out)
      if (!frames.empty() && at(to).is_alive)
        actions.emplace_back([&frames = frames, &receiver = at(to), from = process.self] {
          const auto frame = std::move(frames.front());
          frames.pop_front();
          receiver.recall.handle(from, frame);
        });
    if (!process.is_alive || process.is_hopeless) return;
    if (!process.to_hear.empty())
      actions.emplace_back([&process] {
        process.recall.lose(process.to_hear.back());
        process.to_hear.pop_back();
      });
    if (is_at_end(process)) return;
    const Step step = scripts_[static_cast<std::size_t>(process.self.rank)][process.done];
    switch (step.kind) {
      case Step::Kind::send:
        actions.emplace_back([this, &process, step] { send(process, step.peer); });
        break;
      case Step::Kind::receive:
        collect_receive(process, step.peer, actions);
        break;
      case Step::Kind::receive_any:
        collect_receive_any(process, actions);
        break;
      default:
        collect_collective(process, step, actions);
    }
  }

  void send(Process& process, std::int32_t to) {
    const std::int32_t own = process.self.rank;
    process.recall.keep(message(own, to, ++process.sent[to]), bytes_of(process.state), {{to}});
    native_of(process).messages[{own, to}].push_back(process.state);
    note_step(process);
  }

  void collect_receive(Process& process, std::int32_t from, Actions& actions) {
    const std::int32_t own = process.self.rank;
    auto& messages = native_of(process).messages[{from, own}];
    const MessageName name = message(from, own, process.received[from] + 1);
    if (!messages.empty()) {
      actions.emplace_back([this, &process, &messages, name, from] {
        const Value value = messages.front();
        messages.pop_front();
        if (process.asked) process.recall.drop(*process.asked);
        take(process, from, name, value);
      });
    } else if (!process.asked && !process.recall.is_alive({process.self.plane, from})) {
      actions.emplace_back([&process, name, from] {
        process.recall.ask(name, from);
        process.asked = name;
      });
    } else if (process.asked) {
      std::vector<std::byte> bytes;
      const Recall::Answer answer = process.recall.take(name, bytes);
      if (answer == Recall::Answer::none) return;
      // The answer is there: it is taken before anything else happens.
      if (answer == Recall::Answer::here) {
        actions.emplace_back([] {});
        take(process, from, name, value_of(bytes));
      } else {
        end_hopeless(process);
      }
    }
  }

  // What the lowest replica that lives has found, all of the rank know at once
  // (protocols/decision_log).
  void collect_receive_any(Process& process, Actions& actions) {
    auto& decided = decided_[static_cast<std::size_t>(process.self.rank)];
    if (process.wildcards < decided.size()) {
      collect_receive(process, decided[process.wildcards], actions);
      return;
    }
    for (std::int32_t plane = 0; plane < process.self.plane; ++plane)
      if (at({plane, process.self.rank}).is_alive) return;
    for (const std::int32_t from : everybody_) {
      if (from == process.self.rank || !is_there(process, from)) continue;
      actions.emplace_back([this, &process, &decided, from] {
        decided.push_back(from);
        if (!process.recall.is_alive({process.self.plane, from})) has_decided_for_lost_ = true;
      });
    }
  }

  bool is_there(Process& process, std::int32_t from) {
    if (process.recall.is_alive({process.self.plane, from}))
      return !native_of(process).messages[{from, process.self.rank}].empty();
    process.recall.listen_to(from);
    const auto first = process.recall.first_heard(
        from, 1, ReceivedStreams::any,
        [&](const Stream& stream) { return process.received[stream.sender]; });
    if (first) REQUIRE(first->name == message(from, process.self.rank, process.received[from] + 1));
    return first.has_value();
  }

  void take(Process& process, std::int32_t from, const MessageName& name, Value value) {
    process.asked.reset();
    ++process.received[from];
    process.recall.note_received(name.stream, name.number);
    process.state = mixed(process.state, value);
    ++process.wildcards;
    note_step(process);
  }

  void collect_collective(Process& process, const Step& step, Actions& actions) {
    const std::uint64_t number = process.collectives + 1;
    Native& native = native_of(process);
    if (process.recalled) {
      advance_recalled(process, step, actions);
      return;
    }
    if (!process.has_entered) {
      actions.emplace_back([this, &process, number, step] {
        const bool gives = step.kind == Step::Kind::allreduce || step.peer == process.self.rank;
        if (gives) process.recall.keep(contribution(process), bytes_of(process.state), everybody_);
        native_of(process).collectives[number][process.self.rank] = process.state;
        process.has_entered = true;
      });
      return;
    }
    const auto& entered = native.collectives[number];
    const bool is_there = step.kind == Step::Kind::allreduce
                              ? static_cast<std::int32_t>(entered.size()) == ranks_
                              : entered.contains(step.peer);
    if (is_there)
      actions.emplace_back([this, &process, &entered, step, number] {
        finish_natively(process, step, entered, number);
      });
    // Broken off, also where it would have come to its end.
    if (knows_of_gap(process))
      actions.emplace_back([this, &process, step, number] { begin_recall(process, step, number); });
  }

  void finish_natively(Process& process, const Step& step,
                       const std::map<std::int32_t, Value>& entered, std::uint64_t) {
    if (step.kind == Step::Kind::broadcast) {
      end_collective(process, entered.at(step.peer));
      return;
    }
    std::vector<Value> values;
    for (const auto& [rank, value] : entered) values.push_back(value);
    end_reduction(process, sum_of(values));
  }

  void begin_recall(Process& process, const Step& step, std::uint64_t number) {
    RecalledCollective::Setup setup;
    setup.communicator = 1;
    setup.number = number;
    setup.rank = process.self.rank;
    setup.has_result = step.kind == Step::Kind::allreduce;
    for (const std::int32_t rank : everybody_) {
      const bool gives = setup.has_result || rank == step.peer;
      if (gives && rank != process.self.rank) setup.needs.emplace_back(rank, 0);
    }
    process.recalled.emplace(setup, process.recall);
  }

  void advance_recalled(Process& process, const Step& step, Actions& actions) {
    using State = RecalledCollective::State;
    const State state = process.recalled->advance();
    if (state == State::waiting) return;
    actions.emplace_back([] {});
    const auto recalled = std::exchange(process.recalled, std::nullopt);
    if (state == State::hopeless) {
      end_hopeless(process);
    } else if (state == State::has_result) {
      end_reduction(process, value_of(recalled->result));
    } else if (step.kind == Step::Kind::broadcast) {
      const bool is_root = step.peer == process.self.rank;
      end_collective(process, is_root ? process.state : value_of(recalled->contributions.at(0)));
    } else {
      std::vector<Value> values;
      for (const auto& bytes : recalled->contributions) values.push_back(value_of(bytes));
      values.insert(values.begin() + process.self.rank, process.state);
      has_own_sums_ = true;
      end_reduction(process, sum_of(values));
    }
  }

  void end_reduction(Process& process, Value sum) {
    const std::int32_t own = process.self.rank;
    const MessageName name{{1, own, own, 0, Stream::Of::results}, process.collectives + 1};
    process.recall.keep(name, bytes_of(sum), {{own}});
    end_collective(process, sum);
  }

  void end_collective(Process& process, Value value) {
    ++process.collectives;
    process.recall.note_collective(1, process.collectives);
    process.state = mixed(process.state, value);
    process.has_entered = false;
    note_step(process);
  }

  void note_step(Process& process) { ++process.done; }

  void end_hopeless(Process& process) {
    process.is_hopeless = true;
    has_hopeless_ = true;
  }

  bool is_last_of_its_rank(Replica replica) {
    for (std::int32_t plane = 0; plane < planes_; ++plane)
      if (plane != replica.plane && at({plane, replica.rank}).is_alive) return false;
    return true;
  }

  void kill_one() {
    Process& victim = *processes_[static_cast<std::size_t>(random_.below(processes_.size()))];
    --kills_;
    if (!victim.is_alive || (!may_lose_a_rank_ && is_last_of_its_rank(victim.self))) return;
    victim.is_alive = false;
    ++killed_;
    for (auto& [to, frames] : victim.out) frames.resize(random_.below(frames.size() + 1));
    for (auto& [pair, messages] : native_of(victim).messages)
      if (pair.first == victim.self.rank) messages.resize(random_.below(messages.size() + 1));
    for (const auto& process : processes_)
      if (process->is_alive) process->to_hear.push_back(victim.self);
  }

  Random random_;
  const std::int32_t planes_;
  const std::int32_t ranks_;
  std::uint64_t kills_;
  const std::size_t kept_bytes_;
  const bool may_lose_a_rank_;
  const std::vector<Script> scripts_;
  std::vector<std::vector<std::int32_t>> decided_;  // by rank: of whom its wildcards receive
  std::vector<std::int32_t> everybody_;
  std::vector<Native> native_;
  std::vector<std::unique_ptr<Process>> processes_;
  int killed_ = 0;
  bool has_hopeless_ = false;
  bool has_own_sums_ = false;
  bool has_decided_for_lost_ = false;
};

}  // namespace

TEST_CASE("recall: random programs end as without losses while somebody of every rank lives") {
  int killed = 0;
  int gaps_everywhere = 0;
  int own_sums = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    World undisturbed(seed);
    undisturbed.spare_everybody();
    REQUIRE(undisturbed.run());
    World world(seed);
    REQUIRE(world.run());
    REQUIRE(!world.has_hopeless());
    const auto ends = world.ends();
    REQUIRE(ends == undisturbed.ends());
    for (const auto& values : ends) REQUIRE(values.size() == 1);
    killed += world.killed() > 0 ? 1 : 0;
    gaps_everywhere += world.has_gap_everywhere() ? 1 : 0;
    own_sums += world.has_own_sums() ? 1 : 0;
  }
  CHECK(killed > 1000);
  CHECK(gaps_everywhere > 100);
  CHECK(own_sums > 100);
}

TEST_CASE("recall: replicas that receive from anybody agree at their ends") {
  int gaps_everywhere = 0;
  int for_lost = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    World world(seed, false, Receives::from_anybody);
    REQUIRE(world.run());
    REQUIRE(!world.has_hopeless());
    for (const auto& values : world.ends()) REQUIRE(values.size() == 1);
    gaps_everywhere += world.has_gap_everywhere() ? 1 : 0;
    for_lost += world.has_decided_for_lost() ? 1 : 0;
  }
  CHECK(gaps_everywhere > 100);
  CHECK(for_lost > 100);
}

TEST_CASE("recall: nobody waits for ever when a rank is lost in all planes") {
  int hopeless = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    World world(seed, true);
    REQUIRE(world.run());
    hopeless += world.has_hopeless() ? 1 : 0;
  }
  CHECK(hopeless > 50);
}
