// Votes where processes are lost one by one, and their siblings stand in for them.
#include "runtime/replicas/votes_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

World::Case standing_in(World::Case given, std::uint64_t messages) {
  given.messages = messages;
  given.stands_in = true;
  return given;
}

// Any but one of the sender's and one of the receiver's.
std::vector<std::pair<int, Replica>> random_deaths(World& world, const World::Case& given,
                                                   Random& random) {
  std::vector<std::pair<int, Replica>> deaths;
  const auto degree = static_cast<std::uint64_t>(given.config.degree);
  for (const std::int32_t rank : std::set{World::sender_rank, world.receiver_rank()}) {
    const auto spared = static_cast<std::int32_t>(random.below(degree));
    for (std::int32_t plane = 0; plane < given.config.degree; ++plane)
      if (plane != spared && random.below(2) == 0)
        deaths.emplace_back(static_cast<int>(random.below(150)), Replica{plane, rank});
  }
  return deaths;
}

void run(World& world, const std::vector<std::pair<int, Replica>>& deaths) {
  world.run([&](int step) {
    for (const auto& [at, victim] : deaths)
      if (at == step) world.kill(victim);
  });
}

// Of each case a thousand runs of 5 messages: `check(given, seed)`.
template <typename Check>
void for_each_run(const Check& check) {
  for_each_case([&](const World::Case& any) {
    const World::Case given = standing_in(any, 5);
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      CAPTURE(seed);
      check(given, seed);
    }
  });
}

}  // namespace

TEST_CASE("whichever processes are lost, the living get what is meant, and nobody is accused") {
  for_each_run([](const World::Case& given, std::uint64_t seed) {
    Random random(seed);
    World world(given, seed);
    run(world, random_deaths(world, given, random));
    REQUIRE(world.all(&Votes::are_all_over));
    world.for_each_receiver([&](const World::Process& process) {
      REQUIRE(process.had.size() == 5);
      for (const auto& [number, had] : process.had) {
        CHECK(!had.has(VoteEventKind::mismatch));
        REQUIRE(had.data);
        CHECK(*had.data == what_is_meant(number));
        REQUIRE(had.has(VoteEventKind::finish));
        const int agreeing = had.find(VoteEventKind::finish)->agreeing;
        CHECK((agreeing >= 2 || world.living_senders() < 2));
      }
    });
  });
}

TEST_CASE(
    "one corruption among random deaths is found where two senders live, and no other accused") {
  for_each_run([](const World::Case& given, std::uint64_t seed) {
    Random random(seed);
    World world(given, seed);
    const auto replica =
        static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(given.config.degree)));
    world.corrupt(replica, 3);
    run(world, random_deaths(world, given, random));
    REQUIRE(world.all(&Votes::are_all_over));
    const bool was_sent = world.find({replica, World::sender_rank})->sent >= 3;
    const bool is_alive = world.find({replica, World::sender_rank})->is_alive;
    world.for_each_receiver([&](const World::Process& process) {
      for (const auto& [number, had] : process.had) {
        const bool is_right = had.data && *had.data == what_is_meant(number);
        CHECK((is_right || number == 3));
        CHECK((number == 3 || !had.has(VoteEventKind::mismatch)));
        for (const VoteEvent& event : had.events)
          if (event.kind == VoteEventKind::outvote) CHECK(index(event.origin) == replica);
        if (number != 3 || !was_sent || !is_alive || world.living_senders() < 2) continue;
        const auto share = given.config.share(replica, process.self.plane);
        CHECK((share == protocols::Share::none || had.has(VoteEventKind::mismatch)));
        if (world.living_senders() == 3) {
          CHECK(is_right);
          CHECK(had.has(VoteEventKind::finish));
        }
      }
    });
  });
}

TEST_CASE("once a sender is lost nothing is given out before it is verified, whatever the method") {
  for (const VoteMethod method : methods) {
    CAPTURE(static_cast<int>(method));
    const World::Case given = standing_in({{method, 3}, false, 1, false}, 1);
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      CAPTURE(seed);
      World world(given, seed);
      world.corrupt(0, 1);
      world.kill({1, World::sender_rank});
      for (std::int32_t plane = 0; plane < 3; ++plane)
        world.find({plane, world.receiver_rank()})->votes.lose({1, World::sender_rank});
      world.run();
      REQUIRE(world.all(&Votes::are_all_over));
      world.for_each_receiver([](const World::Process& process) {
        CHECK(process.had.at(1).has(VoteEventKind::undecided));
        CHECK(!process.had.at(1).has(VoteEventKind::deliver));
      });
    }
  }
}

TEST_CASE("who waits for a message does not wait until a sibling receives it, too") {
  for (const VoteMethod method : methods) {
    CAPTURE(static_cast<int>(method));
    World world(standing_in({{method, 2}, false, 1, false}, 1), 1);
    World::Process& receiver = *world.find({0, world.receiver_rank()});
    World::Process& sender = *world.find({1, World::sender_rank});
    const MessageName name{{1, World::sender_rank, world.receiver_rank(), 5, Stream::Of::messages},
                           1};
    receiver.votes.lose({0, World::sender_rank});
    receiver.votes.receive(name, digest_of);
    sender.kept[1] = what_is_meant(1);
    sender.votes.send(name, digest_of(sender.kept[1]), sender.kept[1]);
    world.deliver_all();
    REQUIRE(receiver.had[1].has(VoteEventKind::finish));
    CHECK(receiver.had[1].find(VoteEventKind::finish)->agreeing == 1);
    CHECK(*receiver.had[1].data == what_is_meant(1));
  }
}

TEST_CASE("a stream whose processes all live stays plain while those of others are lost") {
  const World::Case given = standing_in({{VoteMethod::async_hash, 2}, false, 1, false}, 1);
  World world(given, 1);
  World::Process& receiver = *world.find({0, world.receiver_rank()});
  receiver.votes.lose({1, 77});
  const MessageName name{{1, World::sender_rank, world.receiver_rank(), 5, Stream::Of::messages},
                         1};
  receiver.had[1].events.push_back({VoteEventKind::deliver});
  CHECK(receiver.votes.maybe_receive_plain(name, {"recv", 3, digest_of}, 4711));
  receiver.votes.lose({1, World::sender_rank});
  const MessageName next{name.stream, 2};
  CHECK_FALSE(receiver.votes.maybe_receive_plain(next, {"recv", 3, digest_of}, 4711));
}

TEST_CASE("who has nothing to compare says so, and the others compare theirs without it") {
  for (const VoteMethod method : {VoteMethod::all_to_all, VoteMethod::msg_plus_hash})
    for (const std::int32_t abstainer : {0, 1, 2})
      for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(static_cast<int>(method));
        CAPTURE(seed);
        World world(standing_in({{method, 3}, true, 1, true}, 1), seed);
        world.abstain(abstainer);
        world.run();
        REQUIRE(world.all(&Votes::are_all_over));
        world.for_each_receiver([&](const World::Process& process) {
          if (process.self.plane == abstainer)
            CHECK(process.had.empty());
          else
            check_verified(process.had.at(1), 1, 2);
        });
      }
}

TEST_CASE("who receives has a connection to each replica of the sender, whose loss it has to see") {
  const World::Case given = standing_in({{VoteMethod::async_hash, 3}, false, 1, false}, 1);
  World world(given, 1);
  World::Process& receiver = *world.find({0, world.receiver_rank()});
  receiver.votes.receive(
      {{1, World::sender_rank, world.receiver_rank(), 5, Stream::Of::messages}, 1}, digest_of);
  CHECK(receiver.out.contains({1, World::sender_rank}));
  CHECK(receiver.out.contains({2, World::sender_rank}));
}
