#include "mpi/operations/io/written.hpp"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/net/fd.hpp"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// A file of this plane's, and that of another one which lacks something.
class TwoFiles {
 public:
  TwoFiles(const std::string& ours, const std::string& theirs) {
    std::ofstream(path("ours")) << ours;
    std::ofstream(path("theirs")) << theirs;
  }

  std::string path(const char* name) const { return folder_.path() + "/" + name; }
  std::string theirs() const {
    std::ostringstream text;
    text << std::ifstream(path("theirs")).rdbuf();
    return text.str();
  }
  // True: nothing is missing.
  bool hand_on(Written& written) const {
    const runtime::Fd fd(::open(path("theirs").c_str(), O_WRONLY));
    bool has_all = true;
    const auto parts = written.take_parts(path("ours"));
    for (const auto& part : parts) {
      const WrittenPart put = put_part(part, fd.get());
      CHECK(put.error == 0);
      CHECK(put.is_last == (&part == &parts.back()));
      has_all = has_all && put.is_all_known;
    }
    return has_all;
  }

 private:
  const runtime::testing::ScratchFolder folder_;
};

}  // namespace

TEST_CASE("what was written is handed on, and nothing else") {
  const TwoFiles files("0123456789", "..........");
  Written written;
  written.add(7, 2);
  written.add(1, 2);
  written.add(3, 1);
  written.add(2, 1);
  CHECK(files.hand_on(written));
  CHECK(files.theirs() == ".123...78.");
}

TEST_CASE("handed on once, it is forgotten") {
  const TwoFiles files("0123456789", "..........");
  Written written;
  written.add(0, 3);
  CHECK(files.hand_on(written));
  std::ofstream(files.path("theirs")) << "..........";
  CHECK(files.hand_on(written));
  CHECK(files.theirs() == "..........");
}

TEST_CASE("where a file ends before what should be there, so does what is handed on") {
  const TwoFiles files("0123", "");
  Written written;
  written.add(2, 5);
  CHECK(files.hand_on(written));
  CHECK(files.theirs() == std::string("\0\0", 2) + "23");
}

TEST_CASE("who has written somewhere says so, once") {
  const TwoFiles files("0123", "....");
  Written written;
  written.add(0, 1);
  written.add_somewhere();
  CHECK_FALSE(files.hand_on(written));
  CHECK(files.theirs() == "0...");
  CHECK(files.hand_on(written));
}

TEST_CASE("what cannot be read is not all that was written") {
  const TwoFiles files("0123", "....");
  std::filesystem::remove(files.path("ours"));
  Written written;
  written.add(0, 1);
  CHECK_FALSE(files.hand_on(written));
}

TEST_CASE("much is handed on in parts") {
  Random random(7);
  std::string ours(5 * Written::part_bytes + 123, ' ');
  for (char& byte : ours) byte = static_cast<char>('a' + random.below(26));
  const TwoFiles files(ours, "");
  Written written;
  written.add(0, static_cast<std::int64_t>(ours.size()));
  CHECK(Written(written).take_parts(files.path("ours")).size() == 6);
  CHECK(files.hand_on(written));
  CHECK(files.theirs() == ours);
}

TEST_CASE("random pieces, overlapping and in any order, are what is handed on") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::string ours(200, ' ');
    for (char& byte : ours) byte = static_cast<char>('a' + random.below(26));
    std::string expected(ours.size(), '.');
    Written written;
    for (std::uint64_t count = random.below(30); count > 0; --count) {
      const std::uint64_t at = random.below(ours.size());
      const std::uint64_t bytes = random.below(std::min<std::uint64_t>(20, ours.size() - at + 1));
      written.add(static_cast<std::int64_t>(at), static_cast<std::int64_t>(bytes));
      expected.replace(at, bytes, ours, at, bytes);
    }
    const TwoFiles files(ours, std::string(ours.size(), '.'));
    CHECK(files.hand_on(written));
    CHECK(files.theirs() == expected);
  }
}

TEST_CASE("what is no part is refused") {
  const TwoFiles files("0123", "....");
  const runtime::Fd fd(::open(files.path("theirs").c_str(), O_WRONLY));
  Written written;
  written.add(0, 4);
  const auto part = written.take_parts(files.path("ours")).front();
  for (std::size_t bytes : {std::size_t{0}, std::size_t{7}, part.size() - 5, part.size() - 1})
    CHECK(put_part(std::span(part).first(bytes), fd.get()).error != 0);
  CHECK(files.theirs() == "....");
}
