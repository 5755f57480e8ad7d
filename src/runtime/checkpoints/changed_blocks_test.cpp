// Which blocks cross hosts.
#include "runtime/checkpoints/changed_blocks.hpp"

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

using Runs = std::vector<BlockRun>;
using Digests = std::vector<std::uint64_t>;

TEST_CASE("changed blocks that follow each other are one run") {
  const Digests before{1, 2, 3, 4, 5, 6};
  CHECK(changed_blocks(before, before).empty());
  CHECK(changed_blocks(Digests{9, 2, 8, 7, 5, 6}, before) == Runs{{0, 1}, {2, 2}});
  CHECK(changed_blocks(before, {}) == Runs{{0, 6}});
}

TEST_CASE("blocks that there were not before have changed") {
  CHECK(changed_blocks(Digests{1, 2, 3, 4}, Digests{1, 2}) == Runs{{2, 2}});
  CHECK(changed_blocks(Digests{1}, Digests{1, 2}).empty());
}

TEST_CASE("changed and other blocks are all") {
  CHECK(other_blocks(Runs{{0, 1}, {2, 2}}, 6) == Runs{{1, 1}, {4, 2}});
  CHECK(other_blocks({}, 3) == Runs{{0, 3}});
  CHECK(other_blocks(Runs{{0, 3}}, 3).empty());
}

TEST_CASE("the last block may be shorter") {
  const ByteRange range = range_of({1, 2}, 100, 250);
  CHECK(range.offset == 100);
  CHECK(range.bytes == 150);
}

}  // namespace
}  // namespace resprout::runtime
