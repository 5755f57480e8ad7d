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

}  // namespace
}  // namespace resprout::runtime::member
