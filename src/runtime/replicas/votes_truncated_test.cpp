// Messages of which a receiver has a part only: it abstains.
#include "runtime/replicas/votes_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

// Of two messages the first one is too large for the receivers of these planes. `check` gets each
// receiver that has all of it.
template <typename Check>
void run_truncated(World::Case given, const std::set<std::int32_t>& planes, std::int32_t corrupted,
                   Check check) {
  given.messages = 2;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    World world(given, seed);
    for (const std::int32_t plane : planes) world.truncate(plane);
    if (corrupted >= 0) world.corrupt(corrupted, 1);
    world.run();
    REQUIRE(world.all(&Votes::are_all_over));
    world.for_each_receiver([&](const World::Process& process) {
      CHECK(process.had.at(2).has(VoteEventKind::finish));
      CHECK(!process.had.at(2).has(VoteEventKind::mismatch));
      CHECK(process.had.contains(1) != planes.contains(process.self.plane));
      if (process.had.contains(1)) check(process.self.plane, process.had.at(1));
    });
    world.finish();
    world.run();
    CHECK(world.all(&Votes::are_planes_over));
    CHECK(world.kept_bytes() == 0);
  }
}

}  // namespace

TEST_CASE("what is cut short in all planes is over in each at once, and nobody is accused") {
  for_each_case([](const World::Case& given) {
    std::set<std::int32_t> all{0, 1};
    if (given.config.degree == 3) all.insert(2);
    run_truncated(given, all, -1, [](std::int32_t, const Had&) { CHECK(false); });
    run_truncated(given, all, 0, [](std::int32_t, const Had&) { CHECK(false); });
  });
}

TEST_CASE("who has all of what is cut short elsewhere compares it with what was sent") {
  for_each_case([](const World::Case& given) {
    for (std::int32_t plane = 0; plane < given.config.degree; ++plane)
      run_truncated(given, {plane}, -1, [](std::int32_t, const Had& had) {
        CHECK(!had.has(VoteEventKind::mismatch));
        CHECK(*had.data == what_is_meant(1));
        CHECK(had.has(VoteEventKind::finish));
        CHECK(had.absent.empty());
      });
  });
}

TEST_CASE(
    "a corrupt message is found by who has all of it, and who has not answers its questions") {
  for_each_case([](const World::Case& given) {
    for (std::int32_t plane = 0; plane < given.config.degree; ++plane)
      run_truncated(given, {plane}, 0, [&](std::int32_t self, const Had& had) {
        const bool is_shared = given.config.share(0, self) != protocols::Share::none;
        if (is_shared) CHECK(had.has(VoteEventKind::mismatch));
        CHECK(had.absent.empty());
        for (const VoteEvent& event : had.events)
          if (event.kind == VoteEventKind::outvote) CHECK(index(event.origin) == 0);
      });
  });
}
