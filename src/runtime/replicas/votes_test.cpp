#include "runtime/replicas/votes_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

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
        +[](VoteFrame& f) { f.kind = static_cast<VoteFrame::Kind>(7); },
        +[](VoteFrame& f) { f.message.kind = static_cast<protocols::VoteKind>(6); }}) {
    VoteFrame wrong = frame;
    spoil(wrong);
    CHECK(!read_vote_frame(bytes_of(wrong), config));
  }
}
