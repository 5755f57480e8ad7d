// What only some planes have: votes.hpp, invariant 5.
#include "runtime/replicas/votes_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

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
