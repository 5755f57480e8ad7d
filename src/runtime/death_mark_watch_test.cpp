// Death marks that this test makes itself, as the kernel would.
#include "runtime/death_mark_watch.hpp"

#include <linux/futex.h>

#include <cstdint>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

class Host {
 public:
  explicit Host(std::size_t processes) : words_(processes * DeathMarks::bytes_each / 8 + 8) {
    for (std::size_t i = 0; i < processes; ++i) ranks_.push_back(static_cast<int>(i));
  }
  DeathMarks death_marks() { return {reinterpret_cast<std::byte*>(words_.data()), ranks_}; }
  void mark(std::size_t process) {
    auto* const mutexes = reinterpret_cast<std::byte*>(words_.data());
    *reinterpret_cast<std::uint32_t*>(mutexes + process * sizeof(pthread_mutex_t)) =
        FUTEX_OWNER_DIED;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<int> ranks_;
};

// So many looks take all marks.
constexpr std::size_t looks_for(std::size_t processes) {
  return (processes + DeathMarkWatch::marks_each - 1) / DeathMarkWatch::marks_each;
}

bool finds_one(const DeathMarkWatch& watch, std::size_t looks) {
  for (std::size_t i = 0; i < looks; ++i)
    if (watch.misses_one()) return true;
  return false;
}

TEST_CASE("death mark watch: a mark is found in as many looks as take all, and once") {
  for (const std::size_t processes : {1U, 31U, 32U, 33U, 100U, 256U}) {
    for (std::size_t dead = 0; dead < processes; dead += 7) {
      Host host(processes);
      DeathMarkWatch watch;
      watch.watch(host.death_marks(), [](int) {});
      const Losses losses(static_cast<int>(processes));
      for (std::size_t before = 0; before < dead % 5; ++before) CHECK(!watch.misses_one());
      host.mark(dead);
      CHECK(finds_one(watch, looks_for(processes)));
      const DeathMarkWatch::Look look = watch.look(losses);
      CHECK(look.marked == std::vector<std::size_t>{dead});
      CHECK(look.dead.empty());  // its end says nothing
      watch.take(look);
      CHECK(!finds_one(watch, 2 * looks_for(processes)));
    }
  }
}

TEST_CASE("death mark watch: a mark behind those that are known is found") {
  Host host(100);
  DeathMarkWatch watch;
  watch.watch(host.death_marks(), [](int) {});
  const Losses losses(100);
  for (std::size_t dead = 0; dead < 100; ++dead) {
    host.mark(dead);
    CHECK(finds_one(watch, looks_for(100)));
    watch.take(watch.look(losses));
    CHECK(!finds_one(watch, looks_for(100)));
  }
}

}  // namespace
}  // namespace resprout::runtime
