// See engine.hpp: the rules of the LogP machine, with machines made for it.
#include "sim/logp/engine.hpp"

#include <algorithm>
#include <tuple>

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

namespace {

// Sends `sends[rank]` messages to rank 0 back to back, from the start on.
struct Sender {
  std::int32_t self;
  std::int32_t left;

  void start(const Context&) {}
  Disposition handle_message(const Context&, const Message&) { return Disposition::done; }
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context&, Rank) {}
  std::optional<Event> poll_event(const Context&) { return std::nullopt; }
  std::optional<Message> poll_send(const Context&) {
    if (left == 0) return std::nullopt;
    --left;
    return Message{.from = rank_at(self), .to = rank_at(0)};
  }
  Deadline poll_timeout(const Context&) const { return {}; }
};

// Asks to be woken at 5 and 9, tells everything that it sees.
struct Sleeper {
  std::int32_t self;
  std::int32_t wakes = 0;
  std::int32_t suspicions = 0;
  std::int32_t said = 0;

  void start(const Context&) {}
  Disposition handle_message(const Context&, const Message&) { return Disposition::keep; }
  void handle_timeout(const Context& context) {
    if (context.now == Time{5} || context.now == Time{9}) ++wakes;
  }
  void handle_suspicion(const Context& context, Rank rank) {
    if (context.suspects.contains(rank)) ++suspicions;
  }
  std::optional<Event> poll_event(const Context& context) {
    if (said == wakes + suspicions + static_cast<std::int32_t>(context.mailbox.count))
      return std::nullopt;
    ++said;
    return Event{EventKind::suspect, {.from = rank_at(self), .round = context.mailbox.count}};
  }
  std::optional<Message> poll_send(const Context&) { return std::nullopt; }
  Deadline poll_timeout(const Context& context) const {
    if (self != 0) return {};
    if (context.now < Time{5}) return {{5}, "first"};
    return context.now < Time{9} ? Deadline{{9}, "second"} : Deadline{};
  }
};

// Rank 1 sends three messages to rank 0, each ten ticks after the one before.
struct Pacer {
  std::int32_t self;
  std::int32_t left = 3;
  Time next{};  // not before then

  void start(const Context&) {}
  Disposition handle_message(const Context&, const Message&) { return Disposition::done; }
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context&, Rank) {}
  std::optional<Event> poll_event(const Context&) { return std::nullopt; }
  std::optional<Message> poll_send(const Context& context) {
    if (self != 1 || left == 0 || context.now < next) return std::nullopt;
    --left;
    next = context.now + 10;
    return Message{.from = rank_at(1), .to = rank_at(0)};
  }
  Deadline poll_timeout(const Context&) const {
    return self == 1 && left > 0 ? Deadline{next, "pace"} : Deadline{};
  }
};

struct Log {
  struct Payload {};
  std::vector<std::tuple<int, std::int64_t, std::int64_t>> flights;  // from, sent, received or -1
  std::vector<std::pair<std::int64_t, int>> events;                  // time, rank
  std::vector<std::pair<std::int64_t, int>> receives;                // time, from

  Payload on_send(const Message& message, const Flight& flight) {
    flights.emplace_back(index(message.from), flight.sent.ticks,
                         flight.received == never ? -1 : flight.received.ticks);
    return {};
  }
  void on_receive(Time now, const Message& message) {
    receives.emplace_back(now.ticks, index(message.from));
  }
  void on_event(Time now, Rank rank, const Event&, const Payload*) {
    events.emplace_back(now.ticks, index(rank));
  }
};

using Flights = decltype(Log::flights);

Log run(const LogP& model, const std::vector<std::int32_t>& sends,
        const std::vector<Death>& deaths = {}, Totals* totals = nullptr, std::uint64_t seed = 0) {
  Engine<Sender, Log> engine(model, static_cast<std::int32_t>(sends.size()));
  Log log;
  const auto make = [&](Rank rank) {
    return Sender{index(rank), sends[static_cast<std::size_t>(index(rank))]};
  };
  const Totals all = engine.run(make, deaths, log, seed);
  if (totals != nullptr) *totals = all;
  return log;
}

}  // namespace

TEST_CASE("an uncontended hop takes 2o+L, and sends follow each other after o") {
  Totals totals;
  const Log log = run({5, 2, 0}, {0, 3}, {}, &totals);
  CHECK(log.flights == Flights{{1, 0, 9}, {1, 2, 11}, {1, 4, 13}});
  CHECK(totals.messages == 3);
  CHECK(totals.quiescence == Time{13});
}

TEST_CASE("the receive port serves one message at a time, by start of the send, then by sender") {
  const Log log = run({2, 1, 0}, {0, 2, 2});
  CHECK(log.flights == Flights{{1, 0, 4}, {2, 0, 5}, {1, 1, 6}, {2, 1, 7}});
  CHECK(log.receives == decltype(log.receives){{4, 1}, {5, 2}, {6, 1}, {7, 2}});
}

TEST_CASE("a gap larger than o spaces the starts of sends and of receives, a smaller one nothing") {
  CHECK(run({2, 1, 3}, {0, 2, 1}).flights == Flights{{1, 0, 4}, {2, 0, 7}, {1, 3, 10}});
  CHECK(run({2, 3, 2}, {0, 2}).flights == run({2, 3, 0}, {0, 2}).flights);
}

TEST_CASE("messages to the dead cost their sender o and vanish at their arrival") {
  Totals totals;
  const Log log = run({5, 2, 0}, {0, 2}, {{rank_at(0), {0}}}, &totals);
  CHECK(log.flights == Flights{{1, 0, -1}, {1, 2, -1}});
  CHECK(totals.messages == 2);
  CHECK(totals.quiescence == Time{9});
}

TEST_CASE("who dies at t handles nothing that ends at t and starts nothing at t") {
  CHECK(run({2, 1, 0}, {0, 1}, {{rank_at(0), {5}}}).receives.size() == 1);
  CHECK(run({2, 1, 0}, {0, 1}, {{rank_at(0), {4}}}).receives.empty());
  CHECK(run({2, 1, 0}, {0, 9}, {{rank_at(1), {3}}}).flights.size() == 3);
}

TEST_CASE("what a process started to send before it died arrives") {
  CHECK(run({20, 1, 0}, {0, 9}, {{rank_at(1), {1}}}).receives.size() == 1);
}

TEST_CASE("a crowd before one receiver is served in order, however long it takes") {
  std::vector<std::int32_t> sends(5000, 1);
  sends[0] = 0;
  const Log log = run({2, 3, 0}, sends);
  REQUIRE(log.receives.size() == 4999);
  for (int i = 0; i < 4999; ++i) {
    REQUIRE(log.receives[static_cast<std::size_t>(i)] ==
            std::pair<std::int64_t, int>{8 + 3 * i, i + 1});
  }
}

TEST_CASE("timers wake at their time, and deaths are suspected by all who live after the delay") {
  Engine<Sleeper, Log> engine({2, 1, 0}, 3);
  Log log;
  engine.set_detection(7);
  const std::vector<Death> deaths{{rank_at(1), {4}}, {rank_at(2), {6}}};
  engine.run([](Rank rank) { return Sleeper{index(rank)}; }, deaths, log);
  CHECK(log.events == decltype(log.events){{5, 0}, {9, 0}, {11, 0}, {13, 0}});
  CHECK(engine.is_alive(rank_at(0)));
}

TEST_CASE("a send can set a timer, and a timer can start a send") {
  Engine<Pacer, Log> engine({2, 1, 0}, 2);
  Log log;
  engine.run([](Rank rank) { return Pacer{index(rank)}; }, {}, log);
  CHECK(log.flights == Flights{{1, 0, 4}, {1, 10, 14}, {1, 20, 24}});
}

TEST_CASE("an engine runs again as if it were new, whatever died and was waited for before") {
  Engine<Sender, Log> engine({9, 1, 3}, 70);
  const auto make = [](Rank rank) { return Sender{index(rank), index(rank) % 4}; };
  Log first, between, second;
  const Totals before = engine.run(make, {}, first);
  const std::vector<Death> deaths{{rank_at(0), {30}}, {rank_at(0), {8}}, {rank_at(69), {0}}};
  engine.run(make, deaths, between);
  CHECK(between.receives.size() < first.receives.size());
  CHECK_FALSE(engine.is_alive(rank_at(0)));
  const Totals after = engine.run(make, {}, second);
  CHECK(engine.is_alive(rank_at(0)));
  CHECK(after.digest == before.digest);
  CHECK(second.flights == first.flights);
}

TEST_CASE("what is farther ahead than any wheel is kept in order too") {
  const Log log = run({100000, 1, 7000}, {0, 2, 1});
  CHECK(log.flights == Flights{{1, 0, 100002}, {2, 0, 107002}, {1, 7000, 114002}});
  CHECK(log.receives == decltype(log.receives){{100002, 1}, {107002, 2}, {114002, 1}});
}

TEST_CASE("with noise a receive holds its port for longer, by chance and by the seed alone") {
  const std::vector<std::int32_t> sends{0, 400};
  const Log noisy = run({2, 1, 0, 2000}, sends, {}, nullptr, 5);
  Duration extra = 0;
  std::int64_t free = 0;
  for (const auto& [from, sent, received] : noisy.flights) {
    const std::int64_t begin = std::max(sent + 3, free);
    CHECK(received >= begin + 1);
    extra += received - begin - 1;
    free = received;
  }
  // 400 draws of mean 2 and standard deviation 2.45.
  CHECK(extra > 600);
  CHECK(extra < 1000);
  CHECK(run({2, 1, 0, 2000}, sends, {}, nullptr, 5).flights == noisy.flights);
  CHECK(run({2, 1, 0, 2000}, sends, {}, nullptr, 6).flights != noisy.flights);
  CHECK(run({2, 1, 0, 0}, sends, {}, nullptr, 5).flights == run({2, 1, 0}, sends).flights);
}

TEST_CASE("equal runs have equal digests, others have not") {
  Totals a, b, c, d;
  run({2, 1, 0}, {0, 2, 2}, {}, &a);
  run({2, 1, 0}, {0, 2, 2}, {}, &b);
  run({2, 1, 0}, {0, 2, 1}, {}, &c);
  run({3, 1, 0}, {0, 2, 2}, {}, &d);
  CHECK(a.digest == b.digest);
  CHECK(a.digest != c.digest);
  CHECK(a.digest != d.digest);
}
