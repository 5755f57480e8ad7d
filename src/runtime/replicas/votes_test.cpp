#include "runtime/replicas/votes.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::runtime;
using protocols::DigestVoteConfig;
using protocols::VoteEvent;
using protocols::VoteEventKind;
using protocols::VoteMethod;

namespace {

using Bytes = std::vector<std::byte>;

constexpr VoteMethod methods[] = {VoteMethod::all_to_all, VoteMethod::msg_plus_hash,
                                  VoteMethod::async, VoteMethod::async_hash};

// FNV-1a: any hash will do here.
std::uint64_t digest_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 1099511628211u;
  return hash;
}

Bytes what_is_meant(std::uint64_t number) {
  return {static_cast<std::byte>(number), static_cast<std::byte>(number >> 8), std::byte{7}};
}

// What one receiver's program has of one message, and what was said of it.
struct Had {
  std::optional<Bytes> own;   // of its own plane
  std::optional<Bytes> data;  // that it works with
  std::vector<VoteEvent> events;
  std::vector<std::int32_t> absent;  // planes that do not have it

  const VoteEvent* find(VoteEventKind kind) const {
    const auto at = std::find_if(events.begin(), events.end(),
                                 [&](const VoteEvent& event) { return event.kind == kind; });
    return at == events.end() ? nullptr : &*at;
  }
  bool has(VoteEventKind kind) const { return find(kind) != nullptr; }
};

// The replicas of one sender and of one receiver (which may be the same processes), with messages
// on their way in any order that keeps those between two processes in order.
class World {
 public:
  struct Case {
    DigestVoteConfig config;
    bool is_same = false;  // sender and receiver are one rank
    std::uint64_t messages = 1;
    bool keeps_copies = true;
    std::size_t bytes = 3;  // of each message
  };

  World(const Case& given, std::uint64_t seed) : given_(given), random_(seed) {
    for (std::int32_t plane = 0; plane < given.config.degree; ++plane)
      for (const std::int32_t rank : {sender_rank, receiver_rank()})
        if (find({plane, rank}) == nullptr)
          processes_.push_back(std::make_unique<Process>(*this, Replica{plane, rank}));
  }

  // The n-th message is another one at this replica of its sender.
  void corrupt(std::int32_t replica, std::uint64_t number) { corrupted_ = {replica, number}; }

  // The first message is another one when it comes to the receiver of this plane.
  void damage_in_plane(std::int32_t plane) { damaged_ = plane; }

  // The programs of these planes have only so many messages.
  void give_fewer(const std::set<std::int32_t>& planes, std::uint64_t messages) {
    fewer_ = {planes, messages};
  }

  // Its programs do nothing more, until they are killed.
  void stop(std::int32_t plane) { stopped_ = plane; }

  // What its processes have sent may still arrive, up to any point.
  void kill_plane(std::int32_t plane) {
    const auto cut = [&](auto& queue) { queue.resize(random_.below(queue.size() + 1)); };
    for (const auto& process : processes_) {
      if (process->self.plane != plane) {
        process->to_hear.push_back(plane);
        continue;
      }
      process->is_alive = false;
      for (auto& [to, frames] : process->out) cut(frames);
    }
  }

  // Until nothing can happen any more; `meanwhile` is called before each step.
  template <typename Meanwhile>
  void run(Meanwhile meanwhile) {
    for (int step = 0;; ++step) {
      meanwhile(step);
      std::vector<std::function<void()>> actions;
      for (const auto& process : processes_) collect(*process, actions);
      if (actions.empty()) return;
      actions[static_cast<std::size_t>(random_.below(actions.size()))]();
    }
  }
  void run() {
    run([](int) {});
  }

  void finish() {
    for (const auto& process : processes_)
      if (process->is_alive) process->votes.finish_own_plane();
  }
  std::uint64_t kept_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& process : processes_)
      if (process->is_alive) bytes += process->votes.load().bytes;
    return bytes;
  }

  template <typename Function>
  void for_each_receiver(Function function) {
    for (const auto& process : processes_)
      if (process->is_alive && process->self.rank == receiver_rank()) function(*process);
  }
  bool all(bool (Votes::*question)() const) const {
    return std::all_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return !process->is_alive || (process->votes.*question)();
    });
  }
  int living_senders() const {
    return static_cast<int>(
        std::count_if(processes_.begin(), processes_.end(), [](const auto& process) {
          return process->is_alive && process->self.rank == sender_rank;
        }));
  }
  std::int32_t receiver_rank() const { return given_.is_same ? sender_rank : 9; }

  static constexpr std::int32_t sender_rank = 4;

  struct OnWire {
    VoteFrame frame;
    Bytes bytes;
  };
  struct Process final : VoteNetwork {
    Process(World& world, Replica replica)
        : self(replica),
          votes({.config = world.given_.config,
                 .self = replica,
                 .keeps_copies = world.given_.keeps_copies},
                *this, [this](auto& name, auto& event, auto bytes) { note(name, event, bytes); },
                {.agreed =
                     [this, &of = world.given_.config](const MessageName& name) {
                       const int all = of.sends_digests() ? 2 : of.degree;
                       note(name, {VoteEventKind::confirm}, {});
                       note(name, {VoteEventKind::finish, no_rank, all}, {});
                     },
                 .has_machine =
                     [this](const MessageName& name, const Votes::Label& label) {
                       CHECK(std::string(label.call) == "recv");
                       CHECK(had[name.number].has(VoteEventKind::deliver));
                     },
                 .absent =
                     [this](const MessageName& name, std::int32_t plane) {
                       had[name.number].absent.push_back(plane);
                     }}) {}

    void send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) override {
      out[to].push_back({frame, {bytes.begin(), bytes.end()}});
    }
    void note(const MessageName& name, const VoteEvent& event, std::span<const std::byte> bytes) {
      Had& had_now = had[name.number];
      had_now.events.push_back(event);
      const bool is_of_copy =
          event.kind == VoteEventKind::deliver || event.kind == VoteEventKind::repair;
      if (!is_of_copy) return;
      if (bytes.empty())
        had_now.data = had_now.own;
      else
        had_now.data = Bytes(bytes.begin(), bytes.end());
    }

    Replica self;
    bool is_alive = true;
    std::map<std::uint64_t, Had> had;
    Votes votes;
    std::uint64_t sent = 0;
    std::uint64_t posted = 0;
    std::uint64_t taken = 0;
    bool has_ended = false;
    int asked = 0;
    std::deque<Bytes> native;  // what MPI has on its way to this receiver
    std::map<Replica, std::deque<OnWire>> out;
    std::vector<std::int32_t> to_hear;  // lost planes
  };

  Process* find(Replica replica) {
    const auto at = std::find_if(processes_.begin(), processes_.end(),
                                 [&](const auto& process) { return process->self == replica; });
    return at == processes_.end() ? nullptr : at->get();
  }

 private:
  MessageName name(std::uint64_t number) const {
    return {{1, sender_rank, receiver_rank(), 5, Stream::Of::messages}, number};
  }

  std::uint64_t messages_of(const Process& process) const {
    return fewer_.first.contains(process.self.plane) ? fewer_.second : given_.messages;
  }

  // Only where that is asked for: who is through says so, and who waits asks at any time.
  void collect_ends(Process& process, std::vector<std::function<void()>>& actions) {
    if (fewer_.first.empty() || !process.is_alive) return;
    const bool has_sent = process.self.rank != sender_rank || process.sent == messages_of(process);
    const bool has_got =
        process.self.rank != receiver_rank() || process.taken == messages_of(process);
    if (!process.has_ended && has_sent && has_got)
      actions.push_back([&] {
        process.has_ended = true;
        process.votes.end();
      });
    if (!process.votes.are_all_over() && process.asked < 30)
      actions.push_back([&] {
        ++process.asked;
        process.votes.ask_who_is_late();
      });
  }

  void collect(Process& process, std::vector<std::function<void()>>& actions) {
    collect_ends(process, actions);
    const bool does_anything = process.is_alive && process.self.plane != stopped_;
    if (does_anything && process.self.rank == sender_rank && process.sent < messages_of(process))
      actions.push_back([&] { send_next(process); });
    if (does_anything && process.self.rank == receiver_rank()) {
      if (process.posted < messages_of(process))
        actions.push_back([&] { process.votes.receive(name(++process.posted), digest_of); });
      if (process.taken < process.posted && !process.native.empty())
        actions.push_back([&] { take_next(process); });
      if (process.taken == process.posted && !process.native.empty())
        actions.push_back([&] { receive_next(process); });
    }
    for (auto& [to, frames] : process.out) {
      Process* receiver = find(to);
      if (frames.empty() || !receiver->is_alive) continue;
      actions.push_back([&process, receiver, &frames = frames] {
        const OnWire arrived = std::move(frames.front());
        frames.pop_front();
        receiver->votes.handle(process.self, arrived.frame, arrived.bytes);
      });
    }
    if (process.is_alive && !process.to_hear.empty())
      actions.push_back([&process] {
        const std::int32_t lost = process.to_hear.back();
        process.to_hear.pop_back();
        process.votes.lose_plane(lost);
      });
  }

  void send_next(Process& process) {
    const std::uint64_t number = ++process.sent;
    Bytes bytes = what_is_meant(number);
    bytes.resize(given_.bytes);
    if (corrupted_ == std::pair(process.self.plane, number)) bytes[1] ^= std::byte{0x10};
    process.votes.send(name(number), digest_of(bytes), bytes);
    if (damaged_ == process.self.plane) bytes[0] ^= std::byte{1};
    find({process.self.plane, receiver_rank()})->native.push_back(bytes);
  }

  void take_next(Process& process) {
    const std::uint64_t number = ++process.taken;
    process.had[number].own = process.native.front();
    process.native.pop_front();
    process.votes.take_own_copy(name(number), digest_of(*process.had[number].own));
  }

  // Both at once.
  void receive_next(Process& process) {
    const std::uint64_t number = process.posted + 1;
    Had& had = process.had[number];
    had.own = process.native.front();
    const std::uint64_t digest = digest_of(*had.own);
    had.events.push_back({VoteEventKind::deliver});
    if (process.votes.maybe_receive_plain(name(number), {"recv", 3, digest_of}, digest)) {
      had.data = had.own;
      process.native.pop_front();
      ++process.posted;
      ++process.taken;
    } else {
      had.events.pop_back();
      process.votes.receive(name(++process.posted), digest_of);
      take_next(process);
    }
  }

  const Case given_;
  Random random_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::pair<std::int32_t, std::uint64_t> corrupted_{-1, 0};
  std::int32_t damaged_ = -1;
  std::int32_t stopped_ = -1;
  std::pair<std::set<std::int32_t>, std::uint64_t> fewer_;
};

template <typename Function>
void for_each_case(Function function) {
  for (const VoteMethod method : methods)
    for (const std::int32_t degree : {2, 3})
      for (const bool is_same : {false, true}) {
        CAPTURE(static_cast<int>(method));
        CAPTURE(degree);
        CAPTURE(is_same);
        function(World::Case{{method, degree}, is_same, 1, true});
      }
}

void check_verified(const Had& had, std::uint64_t number, int agreeing) {
  REQUIRE(had.data);
  CHECK(*had.data == what_is_meant(number));
  CHECK(had.has(VoteEventKind::confirm));
  REQUIRE(had.has(VoteEventKind::finish));
  CHECK(had.find(VoteEventKind::finish)->agreeing == agreeing);
}

}  // namespace

TEST_CASE("without a fault every message is delivered and verified, and nothing is kept") {
  for_each_case([](World::Case given) {
    given.messages = 100;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      World world(given, seed);
      world.run();
      REQUIRE(world.all(&Votes::are_all_over));
      CHECK(world.all(&Votes::are_all_confirmed));
      world.for_each_receiver([&](const World::Process& process) {
        REQUIRE(process.had.size() == 100);
        for (const auto& [number, had] : process.had) {
          const bool has_heard_all = !given.config.sends_digests();
          check_verified(had, number, has_heard_all ? given.config.degree : 2);
          CHECK(!had.has(VoteEventKind::mismatch));
        }
      });
      world.finish();
      world.run();
      CHECK(world.all(&Votes::are_planes_over));
      CHECK(world.kept_bytes() == 0);
    }
  });
}

TEST_CASE("while messages go on, few that are verified keep their copies, however large they are") {
  for_each_case([](World::Case given) {
    if (given.config.sends_digests() && !given.is_same) return;
    given.messages = 300;
    for (const std::size_t size : {std::size_t{3}, std::size_t{40'000}}) {
      given.bytes = size;
      World world(given, 1);
      world.run();
      REQUIRE(world.all(&Votes::are_all_over));
      // What the others have not heard yet: two messages of 40,000 bytes, or 32 of 3.
      const std::uint64_t messages = size == 3 ? 32 : 2;
      world.for_each_receiver([&](const World::Process& process) {
        const auto copies = static_cast<std::uint64_t>(2 * given.config.degree);
        CHECK(process.votes.load().bytes <= messages * size * copies);
      });
    }
  });
}

TEST_CASE("three replicas: one corrupted copy is out-voted and all go on with the right data") {
  for_each_case([](World::Case given) {
    if (given.config.degree != 3) return;
    given.messages = 3;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      CAPTURE(seed);
      const auto replica = static_cast<std::int32_t>(seed % 3);
      World world(given, seed);
      world.corrupt(replica, 2);
      world.run();
      REQUIRE(world.all(&Votes::are_all_over));
      bool is_outvoted = false;
      world.for_each_receiver([&](const World::Process& process) {
        for (const auto& [number, had] : process.had) {
          CHECK(*had.data == what_is_meant(number));
          CHECK(had.has(VoteEventKind::finish));
          for (const VoteEvent& event : had.events) {
            if (event.kind != VoteEventKind::outvote && event.kind != VoteEventKind::taint)
              continue;
            CHECK(number == 2);
            CHECK(index(event.origin) == replica);
            CHECK((event.kind != VoteEventKind::taint || given.config.is_lazy()));
            is_outvoted = true;
          }
        }
      });
      CHECK(is_outvoted);
      world.finish();
      world.run();
      CHECK(world.all(&Votes::are_planes_over));
      CHECK(world.kept_bytes() == 0);
    }
  });
}

TEST_CASE("three replicas: two that agree are confirmed while the third has sent nothing") {
  for (const VoteMethod method : {VoteMethod::async, VoteMethod::async_hash})
    for (const bool is_same : {false, true}) {
      CAPTURE(static_cast<int>(method));
      CAPTURE(is_same);
      World world({{method, 3}, is_same, 5, true}, 1);
      world.stop(1);
      world.run();
      int confirmed = 0;
      world.for_each_receiver([&](const World::Process& process) {
        if (process.self.plane == 1) return;
        confirmed += process.votes.are_all_confirmed() ? 1 : 0;
        CHECK((process.self.plane == 0 || !process.votes.are_all_over()));
      });
      // Digests go round: plane 2 hears of plane 1 only.
      CHECK(confirmed == (method == VoteMethod::async ? 2 : 1));
      world.kill_plane(1);
      world.run();
      CHECK(world.all(&Votes::are_all_over));
      CHECK(world.all(&Votes::are_all_confirmed));
    }
}

TEST_CASE("what nobody else has sent is not confirmed") {
  World world({{VoteMethod::async_hash, 2}, false, 5, true}, 1);
  world.kill_plane(1);
  world.run();
  CHECK(world.all(&Votes::are_all_over));
  world.for_each_receiver(
      [](const World::Process& process) { CHECK_FALSE(process.votes.are_all_confirmed()); });
}

TEST_CASE("two replicas: one corrupted copy is seen by both receivers, who cannot tell whose") {
  for_each_case([](World::Case given) {
    if (given.config.degree != 2) return;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      CAPTURE(seed);
      World world(given, seed);
      world.corrupt(static_cast<std::int32_t>(seed % 2), 1);
      world.run();
      REQUIRE(world.all(&Votes::are_all_over));
      world.for_each_receiver([](const World::Process& process) {
        CHECK(process.had.at(1).has(VoteEventKind::mismatch));
        CHECK(process.had.at(1).has(VoteEventKind::undecided));
        CHECK(!process.had.at(1).has(VoteEventKind::outvote));
      });
    }
  });
}

TEST_CASE("whichever planes are lost, the living come to an end and nothing is kept") {
  for_each_case([](World::Case given) {
    given.messages = 5;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      World world(given, seed);
      const auto degree = static_cast<std::uint64_t>(given.config.degree);
      const auto spared = static_cast<std::int32_t>(random.below(degree));
      std::vector<int> dies_at;
      for (std::int32_t plane = 0; plane < given.config.degree; ++plane)
        dies_at.push_back(plane == spared ? -1 : static_cast<int>(random.below(120)));
      world.run([&](int step) {
        for (std::int32_t plane = 0; plane < given.config.degree; ++plane)
          if (dies_at[static_cast<std::size_t>(plane)] == step) world.kill_plane(plane);
      });
      REQUIRE(world.all(&Votes::are_all_over));
      world.for_each_receiver([&](const World::Process& process) {
        REQUIRE(process.had.size() == 5);
        for (const auto& [number, had] : process.had) {
          CHECK(!had.has(VoteEventKind::mismatch));
          CHECK(*had.data == what_is_meant(number));
          REQUIRE(had.has(VoteEventKind::finish));
          const int agreeing = had.find(VoteEventKind::finish)->agreeing;
          CHECK((agreeing >= 2 || world.living_senders() < 2));
        }
      });
      world.finish();
      world.run();
      CHECK(world.all(&Votes::are_planes_over));
      CHECK(world.kept_bytes() == 0);
    }
  });
}

TEST_CASE(
    "what only some planes have comes to an end in these, and they know who does not have it") {
  for_each_case([](World::Case given) {
    given.messages = 5;
    const std::int32_t degree = given.config.degree;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const auto first = static_cast<std::int32_t>(seed) % degree;
      std::set<std::int32_t> without{first};
      if (degree == 3 && seed % 2 == 0) without.insert((first + 1) % degree);
      const int having = degree - static_cast<int>(without.size());
      World world(given, seed);
      world.give_fewer(without, 3);
      world.run();
      CAPTURE(seed);
      REQUIRE(world.all(&Votes::are_all_over));
      world.for_each_receiver([&](World::Process& process) {
        CHECK(process.had.size() == (without.contains(process.self.plane) ? 3 : 5));
        for (auto& [number, had] : process.had) {
          REQUIRE(had.has(VoteEventKind::finish));
          CHECK(*had.data == what_is_meant(number));
          CHECK((had.find(VoteEventKind::finish)->agreeing > 1) == (number <= 3 || having > 1));
          const std::set<std::int32_t> absent(had.absent.begin(), had.absent.end());
          CHECK(absent.size() == had.absent.size());
          if (number <= 3) CHECK(absent.empty());
          CHECK(std::ranges::includes(without, absent));
          if (number > 3 && having == 1) CHECK(absent == without);
        }
      });
      world.finish();
      world.run();
      CHECK(world.all(&Votes::are_planes_over));
      CHECK(world.kept_bytes() == 0);
    }
  });
}

TEST_CASE("who keeps no copies cannot repair, but sees all the same whose is wrong") {
  for (const VoteMethod method : {VoteMethod::msg_plus_hash, VoteMethod::async_hash}) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      World world({{method, 3}, true, 1, false}, seed);
      world.corrupt(1, 1);
      world.run();
      REQUIRE(world.all(&Votes::are_all_over));
      world.for_each_receiver([](const World::Process& process) {
        const Had& had = process.had.at(1);
        CHECK(had.has(process.self.plane == 1 ? VoteEventKind::lost : VoteEventKind::finish));
        if (process.self.plane == 1) CHECK(index(had.find(VoteEventKind::outvote)->origin) == 1);
      });
    }
  }
}

TEST_CASE("a copy that is damaged inside its plane is replaced by the right one") {
  for_each_case([](World::Case given) {
    if (given.config.degree != 3 || given.is_same) return;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      CAPTURE(seed);
      World world(given, seed);
      const auto plane = static_cast<std::int32_t>(seed % 3);
      world.damage_in_plane(plane);
      world.run();
      REQUIRE(world.all(&Votes::are_all_over));
      world.for_each_receiver([&](const World::Process& process) {
        const Had& had = process.had.at(1);
        CHECK(*had.data == what_is_meant(1));
        CHECK(had.has(VoteEventKind::finish));
        CHECK((!had.has(VoteEventKind::mismatch) || process.self.plane == plane));
      });
    }
  });
}

TEST_CASE("the first copy for the own plane is the MPI library's, who asks again gets a frame") {
  struct Wire final : VoteNetwork {
    void send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) override {
      sent.push_back({to, frame, {bytes.begin(), bytes.end()}});
    }
    struct Out {
      Replica to;
      VoteFrame frame;
      Bytes bytes;
    };
    std::vector<Out> sent;
  } wire;
  const DigestVoteConfig config{VoteMethod::async_hash, 2};
  Votes votes({.config = config, .self = {0, 4}}, wire,
              [](const MessageName&, const VoteEvent&, std::span<const std::byte>) {});
  const MessageName name{{1, 4, 9, 5, Stream::Of::messages}, 1};
  const Bytes bytes = what_is_meant(1);
  votes.send(name, digest_of(bytes), bytes);
  REQUIRE(wire.sent.size() == 1);
  CHECK(wire.sent[0].to == Replica{1, 9});
  CHECK(wire.sent[0].frame.message.kind == protocols::VoteKind::digest);
  VoteFrame pull{.name = name, .message = {.from = config.receiver(0), .to = config.sender(0)}};
  pull.message.kind = protocols::VoteKind::pull;
  pull.message.origins = 1;
  votes.handle({0, 9}, pull, {});
  REQUIRE(wire.sent.size() == 2);
  CHECK(wire.sent[1].to == Replica{0, 9});
  CHECK(wire.sent[1].bytes == bytes);
}

TEST_CASE("frames that cannot be from where they come are passed over") {
  struct Nowhere final : VoteNetwork {
    void send(Replica, const VoteFrame&, std::span<const std::byte>) override { ++sent; }
    int sent = 0;
  } nowhere;
  int events = 0;
  bool is_confirmed = false;
  const auto count = [&](const MessageName&, const VoteEvent& event, std::span<const std::byte>) {
    ++events;
    is_confirmed = is_confirmed || event.kind == VoteEventKind::confirm;
  };
  const DigestVoteConfig config{VoteMethod::async, 2};
  Votes votes({.config = config, .self = {0, 9}}, nowhere, count);
  const MessageName name{{1, 4, 9, 5, Stream::Of::messages}, 1};
  votes.receive(name, digest_of);
  VoteFrame frame{.name = name, .message = {.from = config.sender(1), .to = config.receiver(0)}};
  frame.message.origins = 2;
  const Bytes bytes = what_is_meant(1);
  votes.handle({1, 3}, frame, bytes);  // not the sender's rank
  votes.handle({0, 4}, frame, bytes);  // not its plane
  frame.message.to = config.receiver(1);
  votes.handle({1, 4}, frame, bytes);  // not for this process
  CHECK(events == 0);
  frame.message.to = config.receiver(0);
  votes.handle({1, 4}, frame, bytes);
  CHECK(events == 1);
  VoteFrame over{.name = {name.stream, 100}};
  over.kind = VoteFrame::Kind::over;
  votes.handle({1, 4}, over, {});  // a sender is never over
  votes.handle({7, 9}, over, {});  // there is no such plane
  votes.take_own_copy(name, digest_of(bytes));
  CHECK(is_confirmed);  // by the digest of the bytes that came, not by what the frame says
  CHECK(votes.are_all_over());
  CHECK(votes.load().bytes == bytes.size());  // its sibling may still ask
}

TEST_CASE("a message that nobody receives is over when all planes are") {
  struct Nowhere final : VoteNetwork {
    void send(Replica, const VoteFrame&, std::span<const std::byte>) override {}
  } nowhere;
  const DigestVoteConfig config{VoteMethod::all_to_all, 2};
  Votes votes({.config = config, .self = {0, 4}}, nowhere, [](auto&&...) {});
  const Bytes bytes = what_is_meant(1);
  votes.send({{1, 4, 9, 5, Stream::Of::messages}, 1}, digest_of(bytes), bytes);
  CHECK(votes.load().bytes == bytes.size());
  votes.finish_own_plane();
  CHECK(!votes.are_planes_over());
  VoteFrame over;
  over.kind = VoteFrame::Kind::plane_over;
  votes.handle({1, 4}, over, {});
  CHECK(votes.are_planes_over());
  CHECK(votes.load().bytes == 0);
  CHECK(votes.load_max().bytes == bytes.size());
}

TEST_CASE("a frame is read back as it was written, and what is none is refused") {
  const DigestVoteConfig config{VoteMethod::async_hash, 2};
  VoteFrame frame{.name = {{1, 4, 9, 5, Stream::Of::results}, 77},
                  .message = {.from = config.sender(1), .to = config.receiver(0)}};
  frame.message.kind = protocols::VoteKind::digest;
  frame.message.origins = 2;
  CHECK(read_vote_frame(bytes_of(frame), config) == frame);
  CHECK(!read_vote_frame(bytes_of(frame).first(sizeof(frame) - 1), config));
  for (const auto spoil :
       {+[](VoteFrame& f) { f.message.from = rank_at(4); },
        +[](VoteFrame& f) { f.message.to = no_rank; }, +[](VoteFrame& f) { f.message.origins = 4; },
        +[](VoteFrame& f) { f.name.number = 0; },
        +[](VoteFrame& f) { f.kind = static_cast<VoteFrame::Kind>(6); },
        +[](VoteFrame& f) { f.message.kind = static_cast<protocols::VoteKind>(6); }}) {
    VoteFrame wrong = frame;
    spoil(wrong);
    CHECK(!read_vote_frame(bytes_of(wrong), config));
  }
}
