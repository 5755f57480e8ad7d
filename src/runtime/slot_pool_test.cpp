// Directories of several processes in plain memory: who finds what, and when areas are used again.
#include "runtime/slot_pool.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

using Ticket = SlotPool::Ticket;

// The pools of a host, also for processes that are made from here on.
class Host {
 public:
  explicit Host(int processes)
      : processes_(processes),
        base_(mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(base_ != MAP_FAILED);
    for (int i = 0; i < processes; ++i) world_ranks_.push_back(i);
    for (int i = 0; i < processes; ++i)
      pools_.push_back(std::make_unique<SlotPool>(
          memory(), i, [this](int rank) { return ended.count(rank) != 0; }));
  }
  ~Host() { munmap(base_, bytes()); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  SlotPool& operator[](int process) { return *pools_[static_cast<std::size_t>(process)]; }
  SlotPoolMemory memory() const { return {static_cast<std::byte*>(base_), world_ranks_}; }
  SlotPool::MembersPtr members(int self) const {
    std::vector<Member> all;
    for (int i = 0; i < processes_; ++i) all.push_back({i, i});
    return std::make_shared<const Members>(std::move(all), self);
  }
  Ticket enter(int process, std::uint64_t name) {
    return (*this)[process].enter(name, members(process), true);
  }
  void leave(int process, const Ticket& ticket, std::uint64_t name, std::uint64_t stamps = 2) {
    (*this)[process].leave(ticket, name, members(process), stamps);
  }

  std::set<int> ended;

 private:
  std::size_t bytes() const { return SlotPoolMemory::bytes(static_cast<std::size_t>(processes_)); }

  const int processes_;
  void* const base_;
  std::vector<int> world_ranks_;
  std::vector<std::unique_ptr<SlotPool>> pools_;
};

TEST_CASE("slot pool: an area is found once its owner has come") {
  Host host(2);
  CHECK_FALSE(host[1].find(0, 7).is_there);
  const Ticket ticket = host.enter(0, 7);
  REQUIRE(ticket.area);
  const SlotPool::Found found = host[1].find(0, 7);
  REQUIRE(found.is_there);
  REQUIRE(found.area);
  CHECK(found.area->memory == ticket.area->memory);
  CHECK(found.area->base == ticket.area->base);
  CHECK_FALSE(host[1].find(0, 8).is_there);
  CHECK_FALSE(host[1].find(1, 7).is_there);
}

TEST_CASE("slot pool: an area is used again when all are through with it, above its old stamps") {
  Host host(3);
  std::vector<Ticket> tickets;
  for (const int i : {0, 1, 2}) tickets.push_back(host.enter(i, 7));
  host.leave(0, tickets[0], 7, 10);
  CHECK(host.enter(0, 8).area->memory != tickets[0].area->memory);
  host.leave(1, tickets[1], 7);
  CHECK(host.enter(0, 9).area->memory != tickets[0].area->memory);
  host.leave(2, tickets[2], 7);
  const Ticket next = host.enter(0, 10);
  CHECK(next.area->memory == tickets[0].area->memory);
  CHECK(next.area->base == tickets[0].area->base + 10);
  CHECK_FALSE(host[1].find(0, 7).is_there);
}

TEST_CASE("slot pool: of as many as may take part each is waited for") {
  constexpr int members = SlotPool::members_max;
  Host host(members);
  std::vector<Ticket> tickets;
  for (int i = 0; i < members; ++i) tickets.push_back(host.enter(i, 7));
  for (int i = 0; i + 1 < members; ++i) host.leave(i, tickets[static_cast<std::size_t>(i)], 7);
  CHECK(host.enter(0, 8).area->memory != tickets[0].area->memory);
  host.leave(members - 1, tickets.back(), 7);
  CHECK(host.enter(0, 9).area->memory == tickets[0].area->memory);
}

TEST_CASE("slot pool: who was through before others came does not keep them from using it again") {
  Host host(2);
  const Ticket early = host.enter(0, 7);
  host.leave(0, early, 7);
  const Ticket late = host.enter(1, 7);
  REQUIRE(host[1].find(0, 7).area);
  host.leave(1, late, 7);
  CHECK(host.enter(0, 8).area->memory == early.area->memory);
  CHECK(host.enter(1, 8).area->memory == late.area->memory);
}

TEST_CASE("slot pool: who has ended is not waited for") {
  Host host(2);
  const Ticket ticket = host.enter(0, 7);
  host.enter(1, 7);
  host.leave(0, ticket, 7);
  host.ended.insert(1);
  CHECK(host.enter(0, 8).area->memory == ticket.area->memory);
}

TEST_CASE("slot pool: who stays away is not waited for, whether it does so before or after") {
  Host host(3);
  host[1].stay_away(7, host.members(1));
  CHECK(host[0].find(1, 7).is_there);
  CHECK_FALSE(host[0].find(1, 7).area);
  const Ticket ticket = host.enter(0, 7);
  host[2].stay_away(7, host.members(2));
  host.leave(0, ticket, 7);
  CHECK(host.enter(0, 8).area->memory == ticket.area->memory);
  host[1].stay_away(9, host.members(1));
  CHECK_FALSE(host[0].find(1, 7).is_there);
}

TEST_CASE("slot pool: who has no area left, or wants none, says so") {
  Host host(2);
  std::vector<Ticket> tickets;
  for (std::uint64_t name = 1; name <= SlotPool::areas_max; ++name)
    tickets.push_back(host.enter(0, name));
  for (const Ticket& ticket : tickets) CHECK(ticket.area);
  const Ticket refused = host.enter(0, 100);
  CHECK_FALSE(refused.area);
  CHECK(host[1].find(0, 100).is_there);
  CHECK_FALSE(host[1].find(0, 100).area);
  CHECK_FALSE(host[1].find(0, 101).is_there);
  const Ticket other = host.enter(1, 1);
  host.leave(1, other, 1);
  host.leave(0, tickets[0], 1);
  CHECK_FALSE(host[0].enter(102, host.members(0), false).area);
  CHECK(host.enter(0, 103).area->memory == tickets[0].area->memory);
}

TEST_CASE(
    "slot pool: who has no room to say so has no shared slots any more, but for those it has") {
  Host host(2);
  for (std::uint64_t name = 1; name <= SlotPool::entries_max; ++name) host.enter(0, name);
  CHECK_FALSE(host[1].find(0, 5000).is_there);
  const Ticket refused = host.enter(0, 4000);
  CHECK_FALSE(refused.place);
  host.leave(0, refused, 4000);
  for (const std::uint64_t name : {4000, 5000}) {
    CHECK(host[1].find(0, name).is_there);
    CHECK_FALSE(host[1].find(0, name).area);
  }
  CHECK(host[1].find(0, 1).area);
  for (std::uint64_t name = 1; name <= SlotPool::entries_max; ++name) host.enter(1, name);
  CHECK_FALSE(host.enter(0, 6000).area);
}

// Each of some processes goes through the same names in the same order, at its own pace, with up to
// three at a time; some stay away, and at the end all areas are free.
TEST_CASE("slot pool: whatever the pace, nobody's area is used again while others look at it") {
  constexpr std::uint64_t names = 60;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const int processes = 2 + static_cast<int>(random.below(4));
    Host host(processes);
    struct Open {
      std::uint64_t name;
      Ticket ticket;
      std::map<int, SlotArea> found;  // by process
    };
    struct Process {
      std::uint64_t entered = 0;
      std::vector<Open> open;
    };
    std::vector<Process> all(static_cast<std::size_t>(processes));
    const auto stays_away = [&](int process, std::uint64_t name) {
      return (name * 31 + static_cast<std::uint64_t>(process) * 17 + seed) % 11 == 0;
    };
    const auto look = [&](int process, Open& open) {
      for (int other = 0; other < processes; ++other)
        if (const SlotPool::Found found = host[process].find(other, open.name); found.area)
          open.found.insert({other, *found.area});
      for (const auto& [other, area] : open.found) {
        std::uint64_t there = 0;
        std::memcpy(&there, area.memory, sizeof there);
        REQUIRE_MESSAGE(there == open.name, "seed ", seed);
      }
    };
    for (bool is_over = false; !is_over;) {
      const int process = static_cast<int>(random.below(static_cast<std::uint64_t>(processes)));
      Process& own = all[static_cast<std::size_t>(process)];
      if (own.entered < names && own.open.size() < 3 && random.below(2) == 0) {
        const std::uint64_t name = ++own.entered;
        if (stays_away(process, name)) {
          host[process].stay_away(name, host.members(process));
        } else {
          const Ticket ticket = host.enter(process, name);
          REQUIRE(ticket.area);
          std::memcpy(ticket.area->memory, &name, sizeof name);
          own.open.push_back({name, ticket, {}});
        }
      } else if (!own.open.empty()) {
        const std::size_t at = random.below(own.open.size());
        for (Open& open : own.open) look(process, open);
        host.leave(process, own.open[at].ticket, own.open[at].name);
        own.open.erase(own.open.begin() + static_cast<std::ptrdiff_t>(at));
      }
      is_over = true;
      for (const Process& one : all) is_over = is_over && one.entered == names && one.open.empty();
    }
    for (int process = 0; process < processes; ++process)
      for (std::uint64_t name = 1000; name < 1000 + SlotPool::areas_max; ++name)
        REQUIRE_MESSAGE(host.enter(process, name).area, "seed ", seed);
  }
}

TEST_CASE("slot pool: two who come and go at once are each seen by the other") {
  constexpr std::uint64_t names = 20000;
  constexpr std::uint64_t ahead_max = 20;
  Host host(2);
  std::array<std::atomic<std::uint64_t>, 2> at{};
  const auto run = [&](int process, bool& has_all) {
    const std::atomic<std::uint64_t>& other = at[process == 0 ? 1 : 0];
    for (std::uint64_t name = 1; name <= names; ++name) {
      while (name > other + ahead_max) std::this_thread::yield();
      const Ticket ticket = host.enter(process, name);
      has_all = has_all && ticket.area.has_value();
      host.leave(process, ticket, name);
      at[process == 0 ? 0 : 1] = name;
    }
  };
  bool has_one_all = true;
  bool has_other_all = true;
  std::thread thread([&] { run(1, has_other_all); });
  run(0, has_one_all);
  thread.join();
  CHECK(has_one_all);
  CHECK(has_other_all);
}

TEST_CASE("slot pool: a process has ended when it was killed, not while it is stopped") {
  Host host(2);
  SlotPool::sign(host.memory(), 0);
  CHECK_FALSE(host[0].has_ended(0));
  const pid_t child = fork();
  if (child == 0) {
    SlotPool::sign(host.memory(), 1);
    raise(SIGSTOP);
    for (;;) pause();
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  CHECK_FALSE(host[0].has_ended(1));
  kill(child, SIGKILL);
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(host[0].has_ended(1));
  waitpid(child, &status, 0);
  CHECK(host[0].has_ended(1));
}

}  // namespace
}  // namespace resprout::runtime
