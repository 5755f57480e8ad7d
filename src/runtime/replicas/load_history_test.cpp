#include "runtime/replicas/load_history.hpp"

#include "core/random.hpp"
#include "doctest/doctest.h"

using resprout::runtime::LoadHistory;

namespace {

constexpr std::int64_t interval = LoadHistory::shortest_ns;
constexpr std::int64_t begin = 1'000'000'007;

}  // namespace

TEST_CASE("load history: nothing was noted, or only just now") {
  LoadHistory history;
  CHECK(history.means().of.empty());
  history.note(begin, {5, 50});
  CHECK(history.means().of.empty());
}

TEST_CASE("load history: what there is counts as long as it is there") {
  LoadHistory history;
  history.note(begin, {4, 40});
  history.note(begin + interval / 4, {0, 0});
  history.note(begin + interval / 2, {2, 10});
  history.note(begin + 2 * interval + interval / 2, {9, 9});
  const LoadHistory::Means means = history.means();
  CHECK(means.interval_ns == interval);
  REQUIRE(means.of.size() == 3);
  CHECK(means.of[0].open == doctest::Approx(4 * 0.25 + 2 * 0.5));
  CHECK(means.of[0].bytes == doctest::Approx(40 * 0.25 + 10 * 0.5));
  CHECK(means.of[1].open == doctest::Approx(2));
  CHECK(means.of[2].open == doctest::Approx(2));  // of half an interval
}

TEST_CASE("load history: of what is noted at one time the last counts") {
  LoadHistory history;
  history.note(begin, {4, 0});
  history.note(begin, {1, 0});
  history.note(begin + interval, {0, 0});
  REQUIRE(history.means().of.size() == 1);
  CHECK(history.means().of[0].open == doctest::Approx(1));
}

TEST_CASE("load history: it never has more than so many intervals, and the same mean") {
  resprout::Random random(3);
  LoadHistory history;
  std::int64_t now = begin;
  double sum = 0;
  double open = 1;
  history.note(now, {open, 0});
  for (int i = 0; i < 20'000; ++i) {
    const auto pause = static_cast<std::int64_t>(random.below(3 * interval));
    sum += open * static_cast<double>(pause);
    now += pause;
    open = static_cast<double>(random.below(100));
    history.note(now, {open, 0});
  }
  const LoadHistory::Means means = history.means();
  CHECK(means.of.size() <= LoadHistory::intervals_max);
  CHECK(means.of.size() > LoadHistory::intervals_max / 2);
  double of_means = 0;
  for (std::size_t i = 0; i < means.of.size(); ++i) {
    const std::int64_t begins = begin + static_cast<std::int64_t>(i) * means.interval_ns;
    of_means += means.of[i].open * static_cast<double>(std::min(means.interval_ns, now - begins));
  }
  CHECK(of_means == doctest::Approx(sum));
}
