// What a file of addresses says of identifiers, and what is refused.
#include "runtime/member/addresses.hpp"

#include <stdexcept>
#include <string>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

namespace resprout::runtime::member {
namespace {

using testing::ScratchFolder;

// A file of these bytes, as long as this lives.
class File {
 public:
  explicit File(const std::string& text) { folder_.put("addresses", text); }
  std::string path() const { return folder_.path("addresses"); }

 private:
  ScratchFolder folder_;
};

TEST_CASE("the n-th line with an address is identifier n") {
  const File file("# all\n10.1.0.1:4000\n\n 10.1.0.1:4001  # the second\n[fd00::0:7]:1\n");
  const Addresses addresses(file.path());
  CHECK(addresses.count() == 3);
  CHECK(addresses.of(0) == Address{"10.1.0.1", 4000});
  CHECK(addresses.of(2) == Address{"fd00::7", 1});
  CHECK_FALSE(addresses.of(3));
  CHECK_FALSE(addresses.of(-1));
  CHECK(addresses.find({"10.1.0.1", 4001}) == 1);
  CHECK(addresses.find({"fd00:0::7", 1}) == 2);
  CHECK_FALSE(addresses.find({"10.1.0.2", 4000}));
}

TEST_CASE("a line that is no address is refused with its number, and so is no file") {
  const auto complaint = [](const std::string& path) -> std::string {
    try {
      Addresses{path};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  for (const char* wrong : {"node7:4000", "10.1.0.1", "10.1.0.1:0", "10.1.0.1:1 rack", "\xff"}) {
    const File file("10.1.0.9:1\n" + std::string(wrong) + "\n");
    CAPTURE(wrong);
    CHECK(complaint(file.path()).starts_with(file.path() + ":2: "));
  }
  CHECK(complaint(File("# nobody\n").path()).ends_with(": it names nobody"));
  CHECK(complaint("/nowhere/members").ends_with(": No such file or directory"));
}

}  // namespace
}  // namespace resprout::runtime::member
