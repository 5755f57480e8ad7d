// Lanes between areas of plain memory: what a slot says, when it is used again, who has ended.
#include "runtime/lanes.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

using Slot = Lanes::Slot;

// Shared with processes that are made from here on.
class Areas {
 public:
  explicit Areas(int members)
      : members_(members),
        base_(mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(base_ != MAP_FAILED);
  }
  ~Areas() { munmap(base_, bytes()); }
  Areas(const Areas&) = delete;
  Areas& operator=(const Areas&) = delete;

  Lanes lanes(int self) const {
    std::vector<std::byte*> areas;
    for (int i = 0; i < members_; ++i)
      areas.push_back(static_cast<std::byte*>(base_) + i * Lanes::area_bytes);
    return {self, areas};
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(members_) * Lanes::area_bytes; }

  const int members_;
  void* const base_;
};

std::vector<std::byte> payload_of(std::size_t bytes, int seed) {
  std::vector<std::byte> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    payload[i] = static_cast<std::byte>(seed + static_cast<int>(i));
  return payload;
}

TEST_CASE("lanes: a root runs ahead by as many broadcasts as may lie between two meetings") {
  Areas areas(2);
  Lanes root = areas.lanes(0);
  Lanes other = areas.lanes(1);
  for (const int round : {0, 1, 2}) {
    const auto size_of = [](unsigned i) { return std::size_t{i % Lanes::broadcast_bytes_max} + 1; };
    for (unsigned i = 0; i < Lanes::broadcasts_max; ++i) {
      if (i == 0) CHECK(other.look_at_broadcast(0, size_of(i)) == Slot::empty);
      const auto payload = payload_of(size_of(i), round + static_cast<int>(i));
      root.send(payload.data(), payload.size());
      CHECK(root.end_broadcast() == (i + 1 == Lanes::broadcasts_max));
    }
    for (unsigned i = 0; i < Lanes::broadcasts_max; ++i) {
      REQUIRE(other.look_at_broadcast(0, size_of(i)) == Slot::full);
      std::vector<std::byte> received(size_of(i));
      other.receive(0, received.data(), received.size());
      CHECK(received == payload_of(size_of(i), round + static_cast<int>(i)));
      CHECK(other.end_broadcast() == (i + 1 == Lanes::broadcasts_max));
    }
    for (Lanes* lanes : {&root, &other}) lanes->enter(nullptr, 0);
    CHECK(root.look_at_meeting(1) == Slot::full);
    CHECK(other.look_at_meeting(0) == Slot::full);
    for (Lanes* lanes : {&root, &other}) lanes->end_meeting();
  }
}

TEST_CASE("lanes: contributions to a meeting stand while the next one is under way") {
  Areas areas(2);
  Lanes fast = areas.lanes(0);
  Lanes slow = areas.lanes(1);
  long value = 3;
  fast.enter(&value, sizeof value);
  slow.enter(&value, sizeof value);
  CHECK(fast.look_at_meeting(1) == Slot::full);
  fast.end_meeting();
  value = 4;
  fast.enter(&value, sizeof value);
  CHECK(fast.look_at_meeting(1) == Slot::empty);
  REQUIRE(slow.look_at_meeting(0) == Slot::full);
  long found = 0;
  std::memcpy(&found, slow.contribution(0), sizeof found);
  CHECK(found == 3);
  slow.end_meeting();
  CHECK(slow.look_at_meeting(0) == Slot::full);
  std::memcpy(&found, slow.contribution(0), sizeof found);
  CHECK(found == 4);
}

TEST_CASE("lanes: who leaves is seen by all, in this operation only") {
  Areas areas(3);
  Lanes a = areas.lanes(0);
  Lanes b = areas.lanes(1);
  a.leave_meeting();
  CHECK(b.look_at_meeting(0) == Slot::left);
  CHECK(b.look_at_meeting(2) == Slot::empty);
  b.end_meeting();
  CHECK(b.look_at_meeting(0) == Slot::empty);
  a.leave_broadcast(8);
  CHECK(b.look_at_broadcast(0, 8) == Slot::left);
  b.end_broadcast();
  CHECK(b.look_at_broadcast(0, 8) == Slot::empty);
}

TEST_CASE("lanes: who sees a slot full sees the payload, between threads that run") {
  Areas areas(2);
  Lanes one = areas.lanes(0);
  Lanes other = areas.lanes(1);
  const auto run = [](Lanes& lanes, int peer, bool& is_right) {
    for (long i = 0; i < 3000; ++i) {
      const std::array<long, 40> mine{i, i + lanes.self()};
      lanes.enter(mine.data(), sizeof mine);
      while (lanes.look_at_meeting(peer) != Slot::full) std::this_thread::yield();
      std::array<long, 40> found;
      std::memcpy(found.data(), lanes.contribution(peer), sizeof found);
      is_right = is_right && found[0] == i && found[1] == i + peer && found[39] == 0;
      lanes.end_meeting();
    }
  };
  bool is_one_right = true;
  bool is_other_right = true;
  std::thread thread([&] { run(other, 0, is_other_right); });
  run(one, 1, is_one_right);
  thread.join();
  CHECK(is_one_right);
  CHECK(is_other_right);
}

TEST_CASE("lanes: a process has ended when it was killed, not while it is stopped") {
  Areas areas(2);
  Lanes own = areas.lanes(0);
  own.sign();
  CHECK_FALSE(own.has_ended(0));
  const pid_t child = fork();
  if (child == 0) {
    areas.lanes(1).sign();
    raise(SIGSTOP);
    for (;;) pause();
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  CHECK_FALSE(own.has_ended(1));
  kill(child, SIGKILL);
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(own.has_ended(1));
  waitpid(child, &status, 0);
  CHECK(own.has_ended(1));
}

}  // namespace
}  // namespace resprout::runtime
