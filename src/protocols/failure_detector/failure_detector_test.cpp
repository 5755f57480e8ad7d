// The failure detector of one process, with a clock that the test turns.
#include "protocols/failure_detector/failure_detector.hpp"

#include <string>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

constexpr FailureDetectorConfig every_ten{10, 50};

// Rank 0 with the neighbors 1 and 2. Time passes by `pass`, during which deadlines are kept.
class Watcher {
 public:
  Watcher() : detector_(every_ten, rank_at(0), std::vector{rank_at(1), rank_at(2)}) {
    detector_.start({Time{0}, {}, {}});
    drain();
  }

  // Runs until `until`; each of `alive` is heard of every ten ticks.
  void pass(std::int64_t until, const std::vector<int>& alive) {
    while (now_ < until) {
      ++now_;
      if (now_ % 10 == 0)
        for (int rank : alive) hear(rank);
      if (detector_.poll_timeout(context()).at <= Time{now_}) wake();
    }
  }

  // Nothing runs until then: no deadline is kept, no message is read.
  void sleep(std::int64_t until) { now_ = until; }
  void wake() {
    detector_.handle_timeout(context());
    drain();
  }
  void hear(int rank) {
    detector_.handle_message(context(), {.from = rank_at(rank), .kind = MessageKind::heartbeat});
  }
  void suspect(int rank) { detector_.handle_suspicion(context(), rank_at(rank)); }

  std::string suspected;  // "rank@time "
  std::vector<int> beats = std::vector<int>(3);

 private:
  Context context() const { return {Time{now_}, {}, {}}; }
  void drain() {
    while (const auto event = detector_.poll_event(context()))
      suspected += std::to_string(index(event->subject.from)) + "@" + std::to_string(now_) + " ";
    while (const auto message = detector_.poll_send(context()))
      ++beats[static_cast<std::size_t>(index(message->to))];
  }

  FailureDetector detector_;
  std::int64_t now_ = 0;
};

TEST_CASE("neighbors that beat are never suspected, and are beaten to once a period") {
  Watcher watcher;
  watcher.pass(1000, {1, 2});
  CHECK(watcher.suspected == "");
  CHECK(watcher.beats == std::vector{0, 101, 101});
}

TEST_CASE("a silent neighbor is suspected once, timeout after it was heard of") {
  Watcher watcher;
  watcher.pass(100, {1, 2});
  watcher.pass(1000, {1});
  CHECK(watcher.suspected == "2@150 ");
}

TEST_CASE("a suspected neighbor gets no more heartbeats") {
  Watcher watcher;
  watcher.pass(50, {1});
  CHECK(watcher.suspected == "2@50 ");
  const int beats = watcher.beats[2];
  watcher.pass(200, {1});
  CHECK(watcher.beats[2] == beats);
}

TEST_CASE("several may fall silent at once") {
  Watcher watcher;
  watcher.pass(200, {});
  CHECK(watcher.suspected == "1@50 2@50 ");
}

TEST_CASE("a process that was starved gives its neighbors the time that it has slept") {
  Watcher watcher;
  watcher.pass(100, {1, 2});
  watcher.sleep(400);
  watcher.wake();
  CHECK(watcher.suspected == "");
  watcher.pass(800, {1, 2});
  CHECK(watcher.suspected == "");
}

TEST_CASE("a neighbor that died while this process was starved is suspected after all") {
  Watcher watcher;
  watcher.pass(100, {1, 2});
  watcher.sleep(400);
  watcher.wake();
  watcher.pass(800, {1});
  CHECK(watcher.suspected == "2@440 ");
}

// Every deadline is served 6 of 10 ticks late, so often.
void starve(Watcher& watcher, std::int64_t from, int often, const std::vector<int>& alive) {
  for (int i = 1; i <= often; ++i) {
    watcher.sleep(from + 16 * i);
    for (const int rank : alive) watcher.hear(rank);
    watcher.wake();
  }
}

TEST_CASE("a process that is starved all the time has nine times the patience") {
  Watcher watcher;
  watcher.pass(100, {1, 2});
  // Each time 6 ticks are nobody's silence, and 10 are.
  starve(watcher, 100, 44, {1});
  CHECK(watcher.suspected == "");
  starve(watcher, 100 + 44 * 16, 1, {1});
  CHECK(watcher.suspected == "2@820 ");
}

TEST_CASE("a process that has been on time again as often as it was late is as strict as before") {
  Watcher watcher;
  watcher.pass(100, {1, 2});
  starve(watcher, 100, 20, {1, 2});
  watcher.pass(600, {1, 2});
  watcher.pass(1000, {1});
  CHECK(watcher.suspected == "2@650 ");
}

TEST_CASE("whom others have reported is not suspected again") {
  Watcher watcher;
  watcher.pass(30, {1, 2});
  watcher.suspect(2);
  watcher.pass(300, {1});
  CHECK(watcher.suspected == "");
}

TEST_CASE("waking too early, or twice, changes nothing") {
  Watcher watcher;
  for (int i = 0; i < 5; ++i) watcher.wake();
  watcher.pass(100, {1, 2});
  CHECK(watcher.beats == std::vector{0, 11, 11});
}

}  // namespace
}  // namespace resprout::protocols
