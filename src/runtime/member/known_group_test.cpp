#include "runtime/member/known_group.hpp"

#include <fstream>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

namespace resprout::runtime::member {
namespace {

TEST_CASE("what was kept of a group is read back, and replaced as a whole") {
  const testing::ScratchFolder folder;
  const std::string path = folder.path("group");
  CHECK(read_group(path).empty());
  const std::vector<Address> both{{"127.0.0.1", 4000}, {"::1", 4001}};
  REQUIRE(write_group(path, both));
  CHECK(read_group(path) == both);
  REQUIRE(write_group(path, {both[1]}));
  CHECK(read_group(path) == std::vector<Address>{both[1]});
}

TEST_CASE("lines that are no address are left out, and where nothing can be written that is said") {
  const testing::ScratchFolder folder;
  const std::string path = folder.path("group");
  std::ofstream(path) << "127.0.0.1:4000\nnobody\n127.0.0.1:0\n127.0.0.1:99999\n";
  CHECK(read_group(path) == std::vector<Address>{{"127.0.0.1", 4000}});
  CHECK(!write_group(folder.path("missing/group"), {}));
}

TEST_CASE("a member asks those who were kept until the time is over, or all have refused") {
  const testing::ScratchFolder folder;
  const std::string path = folder.path("group");
  const Address own{"127.0.0.1", 4000}, one{"127.0.0.1", 4001}, other{"::1", 4002};
  REQUIRE(write_group(path, {own, one, other}));
  KnownGroup group(path, own);
  CHECK(group.others() == std::vector<Address>{one, other});
  CHECK_FALSE(group.is_given_up(INT64_MAX - 1));
  group.note_refused(one, 10);
  group.start_asking(100);
  CHECK_FALSE(group.is_given_up(99));
  CHECK(group.is_given_up(100));
  group.note_refused(other, 20);
  CHECK_FALSE(group.is_given_up(20));  // who refused before it was asked may listen by now
  group.note_refused(one, 30);
  CHECK(group.is_given_up(30));
  group.stop_asking();
  CHECK_FALSE(group.is_given_up(30));
  group.restrict_to([&](const Address& address) { return address == other; });
  CHECK(group.others() == std::vector<Address>{other});
  group.keep({one});
  CHECK(read_group(path) == std::vector<Address>{one});
}

}  // namespace
}  // namespace resprout::runtime::member
