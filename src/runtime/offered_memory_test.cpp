// Memory of other processes: what is read of it, and what is not taken for it.
#include "runtime/offered_memory.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

constexpr std::size_t bytes = 300'000;

std::vector<std::byte> payload() {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = std::byte(i % 251);
  return data;
}

// A process that offers the payload, and takes it back when it is told to.
class Owner {
 public:
  Owner() {
    REQUIRE(pipe(to_.data()) == 0);
    REQUIRE(pipe(from_.data()) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) be_owner();
    REQUIRE(read(from_[0], &offer, sizeof offer) == sizeof offer);
  }
  ~Owner() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]}) close(fd);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void take_back() {
    char word = 0;
    REQUIRE(write(to_[1], &word, 1) == 1);
    REQUIRE(read(from_[0], &word, 1) == 1);
  }
  void end() {
    kill(pid_, SIGKILL);
    siginfo_t info{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0);
  }

  MemoryOffer offer;

 private:
  [[noreturn]] void be_owner() {
    const std::vector<std::byte> data = payload();
    std::optional<OfferedMemory> offered(data);
    char word = 0;
    const bool is_well =
        write(from_[1], &offered->offer(), sizeof(MemoryOffer)) > 0 && read(to_[0], &word, 1) == 1;
    offered.reset();
    if (is_well && write(from_[1], &word, 1) == 1) pause();
    _exit(0);
  }

  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  pid_t pid_ = -1;
};

TEST_CASE("offered memory: others copy what is offered, as a whole and in parts") {
  Owner owner;
  SystemMemoryReader reader;
  std::vector<std::byte> got(bytes);
  const std::span<std::byte> into(got);
  CHECK(reader.read(owner.offer, 0, into.first(100'000)) == MemoryRead::done);
  CHECK(reader.read(owner.offer, 100'000, into.subspan(100'000)) == MemoryRead::done);
  CHECK(reader.confirm(owner.offer) == MemoryRead::done);
  CHECK(got == payload());
}

TEST_CASE("offered memory: what was taken back meanwhile is not what was offered") {
  Owner owner;
  SystemMemoryReader reader;
  std::vector<std::byte> got(bytes);
  CHECK(reader.read(owner.offer, 0, got) == MemoryRead::done);
  owner.take_back();
  CHECK(reader.confirm(owner.offer) == MemoryRead::gone);
}

TEST_CASE("offered memory: nothing is read of who has ended") {
  Owner owner;
  owner.end();
  SystemMemoryReader reader;
  std::vector<std::byte> got(bytes);
  CHECK(reader.read(owner.offer, 0, got) == MemoryRead::gone);
  CHECK(reader.confirm(owner.offer) == MemoryRead::gone);
}

TEST_CASE("offered memory: another process's is not taken for it") {
  Owner owner;
  Owner other;
  MemoryOffer offer = owner.offer;
  offer.pid = other.offer.pid;
  SystemMemoryReader reader;
  CHECK(reader.confirm(offer) == MemoryRead::gone);
  CHECK(owner.offer.stamp != other.offer.stamp);
}

TEST_CASE("offered memory: no two offers have the same stamp") {
  const std::vector<std::byte> data(1);
  std::vector<std::uint64_t> stamps;
  for (int i = 0; i < 1000; ++i) stamps.push_back(OfferedMemory(data).offer().stamp);
  std::sort(stamps.begin(), stamps.end());
  CHECK(std::adjacent_find(stamps.begin(), stamps.end()) == stamps.end());
  CHECK(stamps.front() != 0);
}

}  // namespace
}  // namespace resprout::runtime
