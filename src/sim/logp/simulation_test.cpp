// See simulation.hpp: what must hold of every run, whatever fails.
#include "sim/logp/simulation.hpp"

#include <set>
#include <span>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

namespace {

std::unique_ptr<Simulation> simulation(std::string_view spec, std::int32_t procs,
                                       const LogP& model = {}, Rank root = rank_at(0),
                                       bool wants_trace = false) {
  const auto parsed = registry::parse(spec);
  REQUIRE(std::holds_alternative<registry::Spec>(parsed));
  auto made = Simulation::make({std::get<registry::Spec>(parsed), procs, model, root, wants_trace});
  REQUIRE(std::holds_alternative<std::unique_ptr<Simulation>>(made));
  return std::get<std::unique_ptr<Simulation>>(std::move(made));
}

std::string refusal(std::string_view spec, std::int32_t procs, const LogP& model, Rank root) {
  const auto made =
      Simulation::make({std::get<registry::Spec>(registry::parse(spec)), procs, model, root});
  const auto* wrong = std::get_if<std::string>(&made);
  return wrong == nullptr ? "nothing" : *wrong;
}

using Specs = std::span<const char* const>;

struct Draw {
  std::string spec;
  std::int32_t procs;
  LogP model;
  Rank root;
  std::vector<Death> deaths;

  explicit Draw(Random& random, Specs specs) {
    spec = specs[random.below(specs.size())];
    procs = static_cast<std::int32_t>(1 + random.below(random.chance(1, 2) ? 9 : 150));
    const auto below_procs = [&] {
      return rank_at(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(procs))));
    };
    model = {static_cast<Duration>(random.below(9)), static_cast<Duration>(1 + random.below(4)),
             static_cast<Duration>(random.below(6))};
    const auto id = std::get<registry::Spec>(registry::parse(spec)).protocol;
    root = registry::is_allreduce(id) ? rank_at(0) : below_procs();
    for (auto left = random.below(static_cast<std::uint64_t>(procs) / 2 + 1); left > 0; --left)
      deaths.push_back({below_procs(), Time{static_cast<std::int64_t>(random.below(60))}});
  }
};

constexpr const char* broadcasts[] = {
    "corrected-tree:start=overlapped",
    "corrected-tree:tree=kary,k=3,correction=opportunistic,d=2",
    "corrected-tree:tree=lame,start=overlapped,correction=optimized-opportunistic",
    "corrected-tree:tree=optimal",
    "corrected-tree:tree=knomial,k=4,numbering=in-order,correction=none",
    "corrected-tree:start=overlapped,early=abstain"};

constexpr const char* with_detector[] = {"ftco-allreduce",
                                         "ftco-allreduce:k=3",
                                         "ftco-allreduce:roots=doubling",
                                         "ftco-reduce",
                                         "ftco-reduce:k=4",
                                         "reliable-broadcast",
                                         "reliable-broadcast:tree=kary,k=4,correction=none",
                                         "native-until-loss",
                                         "native-until-loss:k=3",
                                         "agree",
                                         "agree:k=3"};

}  // namespace

TEST_CASE("only colored processes send, and nobody is colored twice, whoever dies and when") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Draw draw(random, broadcasts);
    CAPTURE(i);
    const Result result =
        simulation(draw.spec, draw.procs, draw.model, draw.root, true)->run(draw.deaths);
    std::set<Rank> colored;
    std::vector<std::int64_t> since(static_cast<std::size_t>(draw.procs), INT64_MAX);
    for (const Trace::Said& said : result.trace.events) {
      if (said.kind != EventKind::deliver) continue;
      REQUIRE(colored.insert(said.rank).second);
      since[static_cast<std::size_t>(index(said.rank))] = said.at.ticks;
    }
    for (const auto& [message, flight] : result.trace.messages)
      REQUIRE(since[static_cast<std::size_t>(index(message.from))] <= flight.sent.ticks);
    REQUIRE(static_cast<std::int64_t>(result.trace.messages.size()) == result.totals.messages);
  }
}

TEST_CASE("opportunistic correction colors everybody if no gap is longer than 2d") {
  Random random(2);
  int covered = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto d = static_cast<std::int32_t>(1 + random.below(4));
    const auto procs = static_cast<std::int32_t>(1 + random.below(120));
    const char* const starts[] = {"synchronized", "overlapped"};
    const char* const trees[] = {"binomial", "kary,k=4", "binomial,numbering=in-order", "optimal"};
    // With d=1 the optimized form only ever stops where somebody else is at work.
    const bool is_optimized = d == 1 && random.chance(1, 2);
    const std::string spec =
        std::string("corrected-tree:correction=") + (is_optimized ? "optimized-" : "") +
        "opportunistic,d=" + std::to_string(d) + ",start=" + starts[random.below(2)] +
        ",tree=" + trees[random.below(4)];
    const auto faults =
        parse_faults(std::to_string(random.below(static_cast<std::uint64_t>(procs) / 4 + 1)), procs,
                     rank_at(0), random.next());
    const Result result = simulation(spec, procs)->run(std::get<std::vector<Death>>(faults));
    if (*result.g_max > 2 * d) continue;
    CAPTURE(spec);
    CAPTURE(i);
    REQUIRE(result.uncolored == 0);
    if (*result.g_max > 0) ++covered;
  }
  CHECK(covered > 1000);
}

TEST_CASE("erratum: optimized opportunistic correction with d=4 misses one of a gap of 8") {
  const char* const spec =
      "corrected-tree:correction=optimized-opportunistic,d=4,numbering=in-order";
  const Result result = simulation(spec, 32)->run(std::vector{Death{rank_at(2), Time{0}}});
  CHECK(result.g_max == 8);
  CHECK(result.uncolored == 1);
}

TEST_CASE("with a detector everybody who lives returns, and all who live contribute") {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const Draw draw(random, with_detector);
    CAPTURE(draw.spec);
    CAPTURE(i);
    const Result result =
        simulation(draw.spec, draw.procs, draw.model, draw.root)->run(draw.deaths);
    const bool root_dies = std::any_of(draw.deaths.begin(), draw.deaths.end(),
                                       [&](const Death& death) { return death.rank == draw.root; });
    const bool is_reduction = result.completion_latency.has_value();
    if (is_reduction || !root_dies) REQUIRE(result.uncolored == 0);
    std::set<Rank> dead;
    for (const Death& death : draw.deaths) dead.insert(death.rank);
    const auto live = draw.procs - static_cast<std::int32_t>(dead.size());
    if (result.contributors) REQUIRE(*result.contributors >= live);
    if (result.contributors) REQUIRE(*result.contributors <= draw.procs);
  }
}

TEST_CASE("fault-free reductions go up and down once, an agreement twice, and count everybody") {
  for (const std::int32_t procs : {1, 2, 7, 64, 1000}) {
    const Result all = simulation("ftco-allreduce", procs)->run({});
    CHECK(all.totals.messages == 2 * (procs - 1));
    CHECK(all.contributors == procs);
    const Result native = simulation("native-until-loss", procs)->run({});
    CHECK(native.totals.messages == 2 * (procs - 1));
    CHECK(native.contributors == procs);
    const Result agreed = simulation("agree", procs)->run({});
    CHECK(agreed.totals.messages == 4 * (procs - 1));
    CHECK(agreed.contributors == procs);
    CHECK(simulation("ftco-reduce:k=4", procs)->run({}).contributors == procs);
  }
}

TEST_CASE("recursive doubling takes one exchange a bit, and a tree below for who is beyond them") {
  constexpr LogP model{.latency = 3, .overhead = 2};
  constexpr Duration hop = 2 + 3 + 2;
  Duration bits = 0;
  for (std::int32_t procs = 1; procs <= 1024; procs *= 2, ++bits) {
    const Result all = simulation("ftco-allreduce:roots=doubling", procs, model)->run({});
    CHECK(all.completion_latency == Time{bits * hop});
    CHECK(all.totals.messages == procs * bits);
    CHECK(all.contributors == procs);
  }
  const Result beyond = simulation("ftco-allreduce:roots=doubling", 1030, model)->run({});
  // Who comes later to an exchange finds the other's part there already.
  CHECK(beyond.completion_latency > Time{10 * hop});
  CHECK(beyond.completion_latency < Time{13 * hop});
  CHECK(beyond.totals.messages == 1024 * 10 + 2 * 6);
  CHECK(beyond.contributors == 1030);
}

TEST_CASE("equal runs have equal digests, on the same simulation or another one, traced or not") {
  Random random(4);
  std::set<std::uint64_t> digests;
  for (int i = 0; i < 200; ++i) {
    const Draw draw(random, i % 2 == 0 ? Specs(broadcasts) : Specs(with_detector));
    const auto first = simulation(draw.spec, draw.procs, draw.model, draw.root);
    const std::uint64_t digest = first->run(draw.deaths).totals.digest;
    first->run({});
    REQUIRE(first->run(draw.deaths).totals.digest == digest);
    const auto second = simulation(draw.spec, draw.procs, draw.model, draw.root, true);
    REQUIRE(second->run(draw.deaths).totals.digest == digest);
    digests.insert(digest);
  }
  CHECK(digests.size() > 150);
}

TEST_CASE("the digest is the same on every machine") {
  CHECK(simulation("corrected-tree", 1024)->run({}).totals.digest == 7709144827731369738u);
}

TEST_CASE("the root shifts ranks and changes nothing else") {
  for (const std::int32_t root : {1, 17, 99}) {
    const Result shifted = simulation("corrected-tree:tree=lame", 100, {}, rank_at(root))->run({});
    const Result plain = simulation("corrected-tree:tree=lame", 100)->run({});
    CHECK(shifted.totals.quiescence == plain.totals.quiescence);
    CHECK(shifted.totals.messages == plain.totals.messages);
  }
}

TEST_CASE("what is out of range is refused in one line") {
  CHECK(refusal("corrected-tree", 0, {}, rank_at(0)) == "procs=0 is not from 1 to 67108864");
  CHECK(refusal("corrected-tree", 4, {2, 0, 0}, rank_at(0)) == "overhead=0 is not from 1 to 2^40");
  CHECK(refusal("corrected-tree", 4, {-1, 1, 0}, rank_at(0)) == "latency=-1 is not from 0 to 2^40");
  CHECK(refusal("corrected-tree", 4, {}, rank_at(4)) == "root=4 is not from 0 to 3");
  CHECK(refusal("ftco-allreduce", 4, {}, rank_at(1)) ==
        "root=1 is not 0: an allreduce has no root");
}
