// What a rank keeps in memory: it is there for the next process, and what dies in the middle leaves
// the checkpoint before.
#include "runtime/checkpoints/memory_store.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

class StoreFolder {
 public:
  StoreFolder() { REQUIRE(mkdtemp(path_.data()) != nullptr); }
  ~StoreFolder() { std::filesystem::remove_all(path_); }
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/resprout-test-XXXXXX";
};

std::uint64_t sum_of_bytes(std::span<const std::byte> block) {
  return std::accumulate(block.begin(), block.end(), std::uint64_t{17},
                         [](std::uint64_t sum, std::byte byte) {
                           return sum * 31 + static_cast<std::uint64_t>(byte);
                         });
}

// A process of rank 3.
struct Keeper {
  explicit Keeper(const std::string& folder) : store(folder, "rank-3", sum_of_bytes) {}

  int keep(std::uint64_t generation, std::uint64_t needed, std::size_t bytes = 300'000) {
    memory.assign(bytes, std::byte(generation));
    const std::span<std::byte> regions[] = {memory};
    return store.keep({generation, needed, 3, 4}, regions, needed);
  }
  std::vector<std::uint64_t> found() {
    std::vector<std::uint64_t> generations;
    for (const Image& image : store.kept()) {
      if (!store.find(image.name.generation)) continue;
      CHECK(image.data.front() == std::byte(image.name.generation));
      CHECK(image.data.back() == std::byte(image.name.generation));
      generations.push_back(image.name.generation);
    }
    std::sort(generations.begin(), generations.end());
    return generations;
  }

  MemoryStore store;
  std::vector<std::byte> memory;
};

using Generations = std::vector<std::uint64_t>;

TEST_CASE("the next process finds the last two checkpoints") {
  const StoreFolder folder;
  CHECK(Keeper(folder.path()).found().empty());
  {
    Keeper keeper(folder.path());
    for (std::uint64_t generation = 1; generation <= 5; ++generation)
      REQUIRE(keeper.keep(generation, generation - 1) == 0);
  }
  Keeper next(folder.path());
  CHECK(next.found() == Generations{4, 5});
  SUBCASE("it keeps the one that is needed") {
    REQUIRE(next.keep(6, 4) == 0);
    CHECK(next.found() == Generations{4, 6});
    REQUIRE(next.keep(7, 4) == 0);
    CHECK(next.found() == Generations{4, 7});
  }
  SUBCASE("it may protect more than before") {
    REQUIRE(next.keep(6, 5, 2'000'000) == 0);
    CHECK(next.found() == Generations{5, 6});
    REQUIRE(next.keep(7, 6, 10) == 0);
    CHECK(Keeper(folder.path()).found() == Generations{6, 7});
  }
}

TEST_CASE("a process that is killed while it keeps a checkpoint leaves the one before") {
  for (int attempt = 0; attempt < 12; ++attempt) {
    const StoreFolder folder;
    REQUIRE(Keeper(folder.path()).keep(1, 0, 8 << 20) == 0);
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      Keeper keeper(folder.path());
      for (std::uint64_t generation = 2;; ++generation)
        if (keeper.keep(generation, 1, 8 << 20) != 0) _exit(1);
    }
    usleep(static_cast<useconds_t>(3'000 + 4'321 * attempt));
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const Generations found = Keeper(folder.path()).found();
    REQUIRE_FALSE(found.empty());
    CHECK(found.front() == 1);
  }
}

TEST_CASE("what is damaged in memory is not found") {
  const StoreFolder folder;
  Keeper keeper(folder.path());
  REQUIRE(keeper.keep(1, 0) == 0);
  REQUIRE(keeper.keep(2, 1) == 0);
  for (const char* name : {"/rank-3-a", "/rank-3-b"}) {
    CAPTURE(name);
    const std::size_t before = Keeper(folder.path()).found().size();
    std::fstream file(folder.path() + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200'000);
    file.put('!');
    file.close();
    CHECK(Keeper(folder.path()).found().size() == before - 1);
  }
}

TEST_CASE("what was damaged between two processes is nothing to build on") {
  const StoreFolder folder;
  REQUIRE(Keeper(folder.path()).keep(5, 4) == 0);
  Keeper before(folder.path());
  CHECK(before.store.find(5).has_value());
  std::fstream file(folder.path() + "/rank-3-a", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(200'000);
  file.put('!');
  file.close();
  Keeper next(folder.path());
  CHECK_FALSE(next.store.find(5).has_value());
  CHECK(next.found().empty());
}

TEST_CASE("an image from elsewhere is there when it is finished, and not before") {
  const StoreFolder folder;
  Keeper here(folder.path());
  REQUIRE(here.keep(7, 0) == 0);
  const Image image = here.store.newest();
  MemoryStore there(folder.path(), "copy-3", sum_of_bytes);
  std::span<std::byte> into;
  REQUIRE(there.begin(image.all.size(), 0, into) == 0);
  std::copy(image.data.begin(), image.data.end(), into.begin() + image.head().size());
  CHECK(MemoryStore(folder.path(), "copy-3", sum_of_bytes).kept().empty());
  there.finish(image.head());
  CHECK(there.find(7)->name.rank == 3);
  CHECK_FALSE(there.find(6));
  const auto found = MemoryStore(folder.path(), "copy-3", sum_of_bytes).kept();
  REQUIRE(found.size() == 1);
  CHECK(found.front().name.generation == 7);
}

TEST_CASE("what is kept twice under one generation is there in its newest form until the next") {
  const StoreFolder folder;
  Keeper keeper(folder.path());
  REQUIRE(keeper.keep(4, 3, 100'000) == 0);
  for (std::size_t bytes : {200'000, 300'000, 250'000}) {
    REQUIRE(keeper.keep(4, 4, bytes) == 0);
    std::vector<std::size_t> sizes;
    for (const Image& image : Keeper(folder.path()).store.kept())
      sizes.push_back(image.data.size());
    CHECK(std::find(sizes.begin(), sizes.end(), bytes) != sizes.end());
  }
  // The next one is written over the older one of the two.
  REQUIRE(keeper.keep(5, 4) == 0);
  REQUIRE(keeper.store.find(4).has_value());
  CHECK(keeper.store.find(4)->data.size() == 250'000);
}

TEST_CASE("where there is no room nothing is kept, and what is needed stays") {
  const StoreFolder folder;
  Keeper keeper(folder.path());
  REQUIRE(keeper.keep(1, 0) == 0);
  const std::vector<std::byte> little(16);
  const std::span<std::byte> huge[] = {
      {const_cast<std::byte*>(little.data()), std::size_t{1} << 50}};
  CHECK(keeper.store.keep({2, 1, 3, 4}, huge, 1) != 0);
  CHECK(keeper.found() == Generations{1});
  REQUIRE(keeper.keep(3, 1) == 0);
  CHECK(keeper.found() == Generations{1, 3});
}

}  // namespace
}  // namespace resprout::runtime
