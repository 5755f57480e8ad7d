#include "runtime/replicas/discovery.hpp"

#include <system_error>

#include "doctest/doctest.h"
#include "runtime/testing/processes.hpp"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

LinkAddress address(std::uint16_t port) {
  LinkAddress made{.host = {}, .port = port};
  std::string("127.0.0.1").copy(made.host.data(), made.host.size() - 1);
  return made;
}

void nobody_waits() { FAIL("there is nothing to wait for"); }

}  // namespace

TEST_CASE("discovery: planes that come one after the other find each other") {
  const testing::ScratchFolder folder;
  leave_addresses(folder.path(), 1, {address(3), address(4)});
  int looks = 0;
  const auto found = meet(folder.path(), 2, 2, [&] {
    if (++looks == 3) leave_addresses(folder.path(), 0, {address(1), address(2)});
  });
  REQUIRE(found.size() == 4);
  for (std::uint16_t i = 0; i < 4; ++i) {
    CHECK(found[i].port == i + 1);
    CHECK(std::string(found[i].host.data()) == "127.0.0.1");
  }
  CHECK(looks == 3);
}

TEST_CASE("discovery: processes that are really others meet") {
  const testing::ScratchFolder folder;
  const testing::Shared<std::atomic<int>> met;
  testing::Processes planes(3, [&](int plane) {
    leave_addresses(folder.path(), plane, {address(static_cast<std::uint16_t>(10 + plane))});
    const auto found = meet(folder.path(), 3, 1, [] { testing::nap_ms(1); });
    for (std::uint16_t i = 0; i < 3; ++i) testing::expect(found[i].port == 10 + i, "all are there");
    ++*met;
  });
  for (int plane = 0; plane < 3; ++plane) CHECK(planes.wait(plane) == 0);
  CHECK(*met == 3);
}

TEST_CASE("discovery: a plane that ended before it came is nowhere, and nobody waits for it") {
  const testing::ScratchFolder folder;
  leave_addresses(folder.path(), 0, {address(1)});
  folder.put("ended-1", "");
  const auto found = meet(folder.path(), 2, 1, nobody_waits);
  CHECK(found[0].is_somewhere());
  CHECK_FALSE(found[1].is_somewhere());
}

TEST_CASE("discovery: a plane that came and ended is where it was") {
  const testing::ScratchFolder folder;
  leave_addresses(folder.path(), 0, {address(1)});
  folder.put("ended-0", "");
  CHECK(meet(folder.path(), 1, 1, nobody_waits)[0].port == 1);
}

TEST_CASE("discovery: a plane that is over is not therefore lost, unless that is said") {
  const testing::ScratchFolder folder;
  folder.put("ended-0", "");
  folder.put("ended-1", "");
  folder.put("lost-1", "");
  CHECK_FALSE(is_said_to_be_lost(folder.path(), 0));
  CHECK(is_said_to_be_lost(folder.path(), 1));
}

TEST_CASE("discovery: a plane with another number of ranks is refused by its number") {
  const testing::ScratchFolder folder;
  leave_addresses(folder.path(), 0, {address(1), address(2), address(3)});
  CHECK_THROWS_WITH(meet(folder.path(), 1, 2, nobody_waits), "plane 0 has 3 ranks, and this one 2");
}

TEST_CASE("discovery: the secret is 32 bytes, or there is none") {
  const testing::ScratchFolder folder;
  CHECK_THROWS_AS(read_discovery_secret(folder.path()), std::system_error);
  folder.put("secret", std::string(31, 'x'));
  CHECK_THROWS_WITH(read_discovery_secret(folder.path()), doctest::Contains("is no secret"));
  folder.put("secret", std::string(32, 'x'));
  CHECK(read_discovery_secret(folder.path())[31] == 'x');
}
