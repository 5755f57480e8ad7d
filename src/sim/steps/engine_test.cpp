// See engine.hpp: FTCO with in-band detection, and what it promises, in the model of steps.
#include "sim/steps/engine.hpp"

#include <string>

#include "doctest/doctest.h"
#include "protocols/ftco_in_band/ftco_in_band.hpp"
#include "sim/checkers/outcome.hpp"
#include "sim/logp/entries.hpp"
#include "sim/logp/reduction_metrics.hpp"

namespace resprout::sim {
namespace {

using protocols::FtcoInBand;
using protocols::FtcoInBandConfig;
using protocols::Service;
using topology::RangeShape;

// Payloads that know who is in them; folding must count nobody twice.
class Contributions {
 public:
  using Payload = sim::Payload;

  Contributions(int procs, bool is_broadcast) : processes_(static_cast<std::size_t>(procs)) {
    for (std::size_t i = 0; i < processes_.size(); ++i)
      if (!is_broadcast || i == 0) processes_[i].input = {std::uint64_t{1} << i, 0};
    for (Process& process : processes_) process.accumulator = process.input;
  }

  Payload on_send(const Message& message, const Flight&) {
    const Process& sender = at(message.from);
    if (message.slot == Slot::none) return {};
    if (message.slot == Slot::input) return sender.input;
    return message.slot == Slot::accumulator ? sender.accumulator : sender.outcome.result;
  }

  void on_receive(Time, const Message&) {}

  void on_event(Time, Rank rank, const Event& event, const Payload* payload) {
    Process& process = at(rank);
    switch (event.kind) {
      case EventKind::combine:
        if ((process.accumulator.contributors & payload->contributors) != 0) is_folded_twice = true;
        process.accumulator.contributors |= payload->contributors;
        process.accumulator.excluded |= payload->excluded;
        break;
      case EventKind::adopt:
        process.accumulator = *payload;
        break;
      case EventKind::exclude:
        process.accumulator.excluded |= std::uint64_t{1} << index(event.subject.from);
        break;
      case EventKind::restart:
        process.accumulator = event.subject.slot == Slot::result  ? process.outcome.result
                              : event.subject.slot == Slot::input ? process.input
                                                                  : Payload{};
        break;
      case EventKind::deliver:
        ++process.outcome.delivered;
        process.outcome.result = event.subject.from == rank ? process.accumulator
                                 : payload != nullptr       ? *payload
                                                            : Payload{};
        break;
      case EventKind::fail:
        ++process.outcome.failed;
        break;
      default:
        break;
    }
  }

  template <typename Engine>
  std::vector<Outcome> outcomes(const Engine& engine) const {
    std::vector<Outcome> all;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      all.push_back(processes_[i].outcome);
      all.back().is_survivor = engine.is_alive(rank_at(static_cast<std::int32_t>(i)));
    }
    return all;
  }

  bool is_folded_twice = false;

 private:
  struct Process {
    Payload input;
    Payload accumulator;
    Outcome outcome;
  };

  Process& at(Rank rank) { return processes_[static_cast<std::size_t>(index(rank))]; }

  std::vector<Process> processes_;
};

std::vector<FtcoInBand> machines(const FtcoInBandConfig& config) {
  std::vector<FtcoInBand> all;
  for (std::int32_t i = 0; i < config.collective.procs; ++i) all.emplace_back(config, rank_at(i));
  return all;
}

FtcoInBandConfig published(std::int32_t procs, std::int32_t k) {
  return {{procs, k, Rank{0}, true, RangeShape::knomial, k}, {10, 1}};
}

StepTotals run_fault_free(const FtcoInBandConfig& config) {
  StepEngine<FtcoInBand, ReductionMetrics> engine(10, 1, machines(config));
  ReductionMetrics metrics(config.collective.procs);
  return engine.run({}, {}, metrics);
}

enum class Operation { allreduce, reduce, broadcast };

// A random operation whose root lives, with few faults of each kind, and what it promises.
std::string broken_promise(std::uint64_t seed, Operation operation) {
  Random random(seed);
  const auto procs = static_cast<std::int32_t>(2 + random.below(63));
  const auto k = static_cast<std::int32_t>(2 + random.below(7));
  FtcoInBandConfig config{{procs, k, Rank{0}, operation != Operation::reduce}, {10, 1}};
  config.collective.shape = static_cast<RangeShape>(random.below(3));
  config.collective.is_broadcast = operation == Operation::broadcast;
  if (operation == Operation::allreduce && random.chance(1, 2))
    config.collective.roots = std::min(k, procs);
  config.service = static_cast<Service>(random.below(2));
  config.seed = seed;
  config.timing = {static_cast<Duration>(1 + random.below(20)), 1};

  FaultDraw draw(procs, Rank{0});
  const auto dead = static_cast<std::int64_t>(random.below(1 + procs / 8));
  const auto dying = static_cast<std::int64_t>(random.below(1 + procs / 8));
  const auto drawn = draw.draw(dead + dying, seed);
  std::vector<Death> deaths(drawn.begin(), drawn.end());
  for (auto death = deaths.begin() + dead; death != deaths.end(); ++death)
    death->at = {static_cast<std::int64_t>(random.below(300))};
  Entries entries;
  if (random.chance(1, 2))
    entries = {static_cast<Entries::Kind>(1 + random.below(2)),
               static_cast<Duration>(1 + random.below(600))};

  StepEngine<FtcoInBand, Contributions> engine(config.timing.latency, 1, machines(config));
  Contributions contributions(procs, operation == Operation::broadcast);
  const StepTotals totals = engine.run(deaths, entries.draw(procs, seed), contributions);
  if (!totals.has_ended) return "does not end";
  if (totals.false_suspicions != 0) return "somebody was suspected who was alive";
  if (contributions.is_folded_twice) return "somebody was counted twice";
  const auto outcomes = contributions.outcomes(engine);
  const Verdict verdict = operation == Operation::reduce      ? check_reduce(outcomes)
                          : operation == Operation::broadcast ? check_broadcast(outcomes, 0, true)
                                                              : check_allreduce(outcomes);
  return verdict.value_or("");
}

}  // namespace

// The authors' public simulator prints the same figures for these.
TEST_CASE("without faults, latency, output spread and queue are those of the published model") {
  struct Published {
    std::int32_t procs, k;
    Duration latency, output_spread;
    std::int32_t longest_queue;
  };
  for (const Published& expected : {Published{64, 8, 54, 11, 7},
                                    {256, 11, 87, 21, 10},
                                    {1024, 11, 99, 21, 9},
                                    {1024, 20, 122, 28, 18},
                                    {2048, 12, 114, 23, 11},
                                    {4096, 9, 125, 32, 8},
                                    {8192, 10, 136, 32, 9},
                                    {16384, 16, 162, 39, 15}}) {
    CAPTURE(expected.procs);
    CAPTURE(expected.k);
    const StepTotals totals = run_fault_free(published(expected.procs, expected.k));
    CHECK(totals.last_finish.ticks == expected.latency);
    CHECK(totals.last_finish - totals.first_finish == expected.output_spread);
    if (expected.k == 20) continue;  // there, the published run asks for what is not yet due
    CHECK(totals.longest_queue == expected.longest_queue);
    CHECK(totals.keepalives == 0);
  }
}

TEST_CASE(
    "section 5.2.2: without faults each node sends 3 messages, DATA up and down and one ACK") {
  const StepTotals totals = run_fault_free(published(8192, 10));
  CHECK(totals.messages >= 3 * 8192);
  CHECK(totals.messages <= 3 * 8192 + 10 * 10);
}

TEST_CASE("equal seeds, equal runs; another seed, other service distances") {
  FtcoInBandConfig config = published(512, 8);
  StepEngine<FtcoInBand, ReductionMetrics> engine(10, 1, machines(config));
  std::vector<Death> deaths;
  for (int rank = 3; rank < 90; rank += 7) deaths.push_back({rank_at(rank), Time{rank % 3 * 20}});
  const auto digest = [&](std::uint64_t seed) {
    config.seed = seed;
    ReductionMetrics metrics(512);
    return engine.run(deaths, {}, metrics).digest;
  };
  const std::uint64_t first = digest(1);
  CHECK(digest(2) != first);
  CHECK(digest(1) == first);
}

TEST_CASE("an allreduce with in-band detection keeps its promises while its root lives") {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    CAPTURE(seed);
    REQUIRE(broken_promise(seed, Operation::allreduce) == "");
  }
}

TEST_CASE("so does a reduce") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    REQUIRE(broken_promise(seed, Operation::reduce) == "");
  }
}

TEST_CASE("so does a broadcast") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    REQUIRE(broken_promise(seed, Operation::broadcast) == "");
  }
}

TEST_CASE(
    "who is asked by many at once, near and far, in two rounds, answers all of them in time") {
  struct Crowd {
    std::int32_t k;
    Service service;
    std::int64_t dead;
    std::vector<std::uint64_t> seeds;
  };
  for (const Crowd& crowd : {Crowd{11, Service::intervals, 100, {52, 67, 72, 85, 193}},
                             Crowd{16, Service::randomized, 320, {21, 36, 54}}}) {
    FtcoInBandConfig config = published(1024, crowd.k);
    config.service = crowd.service;
    StepEngine<FtcoInBand, ReductionMetrics> engine(10, 1, machines(config));
    FaultDraw draw(1024, Rank{0});
    for (const std::uint64_t seed : crowd.seeds) {
      CAPTURE(seed);
      const auto drawn = draw.draw(crowd.dead, seed);
      config.seed = seed;
      ReductionMetrics metrics(1024);
      const StepTotals totals = engine.run({drawn.begin(), drawn.end()}, {}, metrics);
      CHECK(totals.has_ended);
      CHECK(totals.false_suspicions == 0);
      CHECK(metrics.contributors(Rank{0}) == 1024 - crowd.dead);
    }
  }
}

TEST_CASE("an allreduce ends with one result even if its root dies") {
  const FtcoInBandConfig config{{40, 3, Rank{0}, true, RangeShape::knomial}, {10, 1}};
  StepEngine<FtcoInBand, Contributions> engine(10, 1, machines(config));
  for (std::int64_t at = 0; at < 250; at += 5) {
    CAPTURE(at);
    Contributions contributions(40, false);
    const Death death{Rank{0}, Time{at}};
    const StepTotals totals = engine.run({&death, 1}, {}, contributions);
    CHECK(totals.has_ended);
    CHECK(totals.false_suspicions == 0);
    CHECK(check_allreduce(contributions.outcomes(engine)).value_or("") == "");
  }
}

TEST_CASE("entry times lie in the spread, uniformly or around its middle") {
  for (const auto kind : {Entries::Kind::uniform, Entries::Kind::normal}) {
    const auto times = Entries{kind, 1000}.draw(100'000, 7);
    std::int64_t sum = 0;
    std::int64_t near = 0;  // within one deviation of the normal distribution
    for (const Time& time : times) {
      REQUIRE(time.ticks >= 0);
      REQUIRE(time.ticks < 1000);
      sum += time.ticks;
      if (time.ticks >= 400 && time.ticks < 600) ++near;
    }
    CHECK(sum / 100'000 >= 497);
    CHECK(sum / 100'000 <= 502);
    const std::int64_t expected = kind == Entries::Kind::normal ? 68'269 : 20'000;
    CHECK(near > expected - 700);
    CHECK(near < expected + 700);
  }
  CHECK(std::get<std::string>(parse_entries("normal:0")).find("uniform:S") != std::string::npos);
  CHECK(std::get<Entries>(parse_entries("uniform:256")).spread == 256);
}

}  // namespace resprout::sim
