// See published_polling.hpp: what the authors' simulator prints, and what Table 2 has.
#include "sim/steps/published_polling.hpp"

#include "doctest/doctest.h"
#include "sim/logp/entries.hpp"

namespace resprout::sim {
namespace {

using topology::RangeShape;

protocols::FtcoInBandConfig published(std::int32_t procs, std::int32_t k) {
  return {{procs, k, Rank{0}, true, RangeShape::knomial, k}, {10, 1}};
}

}  // namespace

TEST_CASE("without late processes, the figures that the authors' simulator has stored") {
  struct Published {
    std::int32_t procs, k;
    Duration latency, output_spread;
    std::int32_t longest_queue;
  };
  for (const Published& expected : {Published{64, 8, 54, 11, 7},
                                    {256, 11, 87, 21, 10},
                                    {1024, 11, 99, 21, 9},
                                    {2048, 12, 114, 23, 11},
                                    {4096, 9, 125, 32, 8},
                                    {16384, 16, 162, 39, 15}}) {
    CAPTURE(expected.procs);
    CAPTURE(expected.k);
    const StepTotals totals = PublishedPolling(published(expected.procs, expected.k)).run({});
    CHECK(totals.has_ended);
    CHECK(totals.last_finish.ticks == expected.latency);
    CHECK(totals.last_finish - totals.first_finish == expected.output_spread);
    CHECK(totals.longest_queue == expected.longest_queue);
    CHECK(totals.keepalives == 0);
  }
}

TEST_CASE("Table 2, uniform, spread 256: latency 151.8, work 15.3, output spread 43.4") {
  constexpr std::int32_t procs = 65536;
  PublishedPolling polling(published(procs, 9));
  const StepTotals totals = polling.run(Entries{Entries::Kind::uniform, 256}.draw(procs, 1));
  CHECK(totals.has_ended);
  const Duration latency = totals.last_finish - totals.last_entry;
  CHECK(latency >= 148);
  CHECK(latency <= 156);
  CHECK(totals.messages > 14.5 * procs);
  CHECK(totals.messages < 16.5 * procs);
  CHECK(totals.last_finish - totals.first_finish >= 42);
  CHECK(totals.last_finish - totals.first_finish <= 46);
  // 70 is the maximum of all of the paper's runs. With what is read before it asks, it is 15.
  CHECK(totals.longest_queue >= 40);
  CHECK(totals.longest_queue <= 77);
}

TEST_CASE("equal entries, equal runs") {
  PublishedPolling polling(published(300, 4));
  const auto digest = [&](std::uint64_t seed) {
    return polling.run(Entries{Entries::Kind::normal, 500}.draw(300, seed)).digest;
  };
  const std::uint64_t first = digest(1);
  CHECK(digest(2) != first);
  CHECK(digest(1) == first);
}

TEST_CASE("one root, and one process, end too") {
  for (const std::int32_t procs : {1, 2, 3, 50}) {
    protocols::FtcoInBandConfig config = published(procs, 3);
    config.collective.roots = 1;
    for (const Duration spread : {1, 40, 5000}) {
      CAPTURE(procs);
      CAPTURE(spread);
      const auto entries = Entries{Entries::Kind::uniform, spread}.draw(procs, 5);
      CHECK(PublishedPolling(config).run(entries).has_ended);
    }
  }
}

}  // namespace resprout::sim
