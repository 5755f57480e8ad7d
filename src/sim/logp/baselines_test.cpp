// Corrected gossip, acknowledged and multiple trees, and corrected reduce, on the LogP machine.
#include <set>
#include <string>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "sim/logp/simulation.hpp"

using namespace resprout;
using namespace resprout::sim;

namespace {

std::unique_ptr<Simulation> simulation(const std::string& spec, std::int32_t procs,
                                       const LogP& model = {}, Rank root = rank_at(0),
                                       bool wants_trace = false) {
  const auto parsed = registry::parse(spec);
  REQUIRE(std::holds_alternative<registry::Spec>(parsed));
  auto made = Simulation::make({std::get<registry::Spec>(parsed), procs, model, root, wants_trace});
  REQUIRE(std::holds_alternative<std::unique_ptr<Simulation>>(made));
  return std::get<std::unique_ptr<Simulation>>(std::move(made));
}

std::vector<Death> dead_from_start(std::uint64_t count, std::int32_t procs, Rank root,
                                   std::uint64_t seed) {
  return std::get<std::vector<Death>>(parse_faults(std::to_string(count), procs, root, seed));
}

}  // namespace

TEST_CASE("gossip by time: no send starts at its end or later, and correction starts there") {
  const auto gossip =
      simulation("corrected-gossip:time=20,correction=checked", 300, {}, rank_at(7), true);
  const Result result = gossip->run({}, 5);
  CHECK(result.uncolored == 0);
  CHECK(result.correction_start == Time{20});
  for (const auto& [message, flight] : result.trace.messages)
    CHECK((message.kind == MessageKind::tree) == (flight.sent < Time{20}));
}

TEST_CASE("checked correction makes gossip a broadcast, whoever is dead and however it ends") {
  Random random(21);
  for (int i = 0; i < 1500; ++i) {
    const auto procs = static_cast<std::int32_t>(1 + random.below(150));
    const bool is_timed = random.chance(1, 2);
    const std::string spec = "corrected-gossip:" + std::string(is_timed ? "time=" : "rounds=") +
                             std::to_string(1 + random.below(30)) +
                             (random.chance(1, 2) ? ",correction=failure-proof" : "") +
                             (is_timed && random.chance(1, 2) ? ",late=end" : "");
    const auto dead = dead_from_start(random.below(static_cast<std::uint64_t>(procs) / 2 + 1),
                                      procs, rank_at(0), random.next());
    CAPTURE(spec);
    CAPTURE(i);
    REQUIRE(simulation(spec, procs)->run(dead, random.next()).uncolored == 0);
  }
}

TEST_CASE("with late=end nobody corrects whom gossip has reached after its end") {
  const auto gossip =
      simulation("corrected-gossip:time=20,correction=checked,late=end", 300, {}, rank_at(7), true);
  const Result result = gossip->run({}, 5);
  CHECK(result.uncolored == 0);
  std::set<Rank> in_time{rank_at(7)};
  std::set<Rank> reached;
  for (const auto& [message, flight] : result.trace.messages) {
    if (message.kind == MessageKind::tree) reached.insert(message.to);
    if (message.kind == MessageKind::tree && flight.received <= Time{20})
      in_time.insert(message.to);
  }
  CHECK(reached.size() > in_time.size());
  for (const auto& [message, flight] : result.trace.messages) CHECK(in_time.contains(message.from));
}

TEST_CASE(
    "late=end is the gossip of the paper's simulator: 46.8 ticks and 6.54 messages a process") {
  const auto means = [](const std::string& late) {
    const auto gossip =
        simulation("corrected-gossip:time=28,correction=checked,late=" + late, 4096);
    double ticks = 0;
    double messages = 0;
    constexpr int runs = 40;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
      const Result result = gossip->run({}, seed);
      ticks += static_cast<double>(result.totals.quiescence.ticks) / runs;
      messages += static_cast<double>(result.totals.messages) / 4096 / runs;
    }
    return std::pair(ticks, messages);
  };
  const auto [ticks, messages] = means("end");
  CHECK(ticks == doctest::Approx(46.8).epsilon(0.02));
  CHECK(messages == doctest::Approx(6.54).epsilon(0.01));
  const auto [late_ticks, late_messages] = means("correct");
  CHECK(late_ticks == doctest::Approx(42.7).epsilon(0.02));
  CHECK(late_messages == doctest::Approx(7.36).epsilon(0.01));
}

TEST_CASE("gossip is left to chance: another seed is another run, the same one the same") {
  const auto gossip = simulation("corrected-gossip:rounds=6", 500);
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::uint64_t digest = gossip->run({}, seed).totals.digest;
    CHECK(gossip->run({}, seed).totals.digest == digest);
    digests.insert(digest);
  }
  CHECK(digests.size() == 20);
}

TEST_CASE("section 4.1: acknowledgments double the messages and leave coloring as it was") {
  for (const char* tree : {"binomial", "kary,k=4", "lame,k=2", "optimal"}) {
    const std::string spec = std::string("acknowledged-tree:tree=") + tree;
    const Result acknowledged = simulation(spec, 1024)->run({});
    const Result plain =
        simulation(std::string("corrected-tree:correction=none,tree=") + tree, 1024)->run({});
    CHECK(acknowledged.totals.messages == 2 * plain.totals.messages);
    CHECK(acknowledged.coloring_latency == plain.coloring_latency);
    CHECK(acknowledged.totals.quiescence > plain.totals.quiescence);
  }
}

TEST_CASE("t trees send t messages to each process, and bear t-1 deaths at any time") {
  Random random(22);
  for (std::int32_t trees = 1; trees <= 4; ++trees) {
    const std::string spec =
        "multi-tree:trees=" + std::to_string(trees) + ",k=" + std::to_string(trees + 1);
    CHECK(simulation(spec, 500)->run({}).totals.messages == trees * 499);
    for (int i = 0; i < 500; ++i) {
      const auto procs = static_cast<std::int32_t>(50 + random.below(100));
      std::vector<Death> deaths;
      for (std::int32_t left = trees - 1; left > 0; --left)
        deaths.push_back({rank_at(static_cast<std::int32_t>(
                              1 + random.below(static_cast<std::uint64_t>(procs) - 1))),
                          Time{static_cast<std::int64_t>(random.below(30))}});
      CAPTURE(i);
      REQUIRE(simulation(spec, procs)->run(deaths).uncolored == 0);
    }
  }
}

TEST_CASE("corrected reduce gets the inputs of those whom the corrected broadcast would color") {
  Random random(23);
  int partial = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto procs = static_cast<std::int32_t>(1 + random.below(120));
    const auto root =
        rank_at(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(procs))));
    const char* const trees[] = {"binomial", "kary,k=3", "lame,k=2", "binomial,numbering=in-order"};
    const std::string options =
        "d=" + std::to_string(1 + random.below(4)) + ",tree=" + trees[random.below(4)];
    const LogP model{static_cast<Duration>(random.below(6)),
                     static_cast<Duration>(1 + random.below(3)),
                     static_cast<Duration>(random.below(5))};
    const auto dead = dead_from_start(random.below(static_cast<std::uint64_t>(procs) / 2 + 1),
                                      procs, root, random.next());
    CAPTURE(options);
    CAPTURE(i);
    const Result reduced = simulation("corrected-reduce:" + options, procs, model, root)->run(dead);
    const Result colored =
        simulation("corrected-tree:correction=opportunistic,start=synchronized," + options, procs,
                   model, root)
            ->run(dead);
    const auto live = procs - static_cast<std::int32_t>(dead.size());
    REQUIRE(reduced.contributors == live - colored.uncolored);
    REQUIRE(reduced.uncolored == 0);
    if (colored.uncolored > 0) ++partial;
  }
  CHECK(partial > 300);
}

TEST_CASE("corrected reduce takes the time of its correction and its tree, whoever is dead") {
  const auto reduce = simulation("corrected-reduce:d=2", 1024);
  const Result whole = reduce->run({});
  CHECK(whole.contributors == 1024);
  CHECK(whole.totals.messages == 4 * 1024 + 1023);
  CHECK(whole.completion_latency == Time{(4 - 1) + 4 + 40});
  const Result hurt = reduce->run(dead_from_start(20, 1024, rank_at(0), 3));
  CHECK(hurt.completion_latency == whole.completion_latency);
}
