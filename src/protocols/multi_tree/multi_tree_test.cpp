// See multi_tree.hpp.
#include "protocols/multi_tree/multi_tree.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<MultiTree>;

// Six others, three children each: 1 and 2 are inner nodes of the first tree, 3 and 4 of the
// second.
const MultiTreeConfig seven{topology::MultiTree(7, 2, 3), 7};

TEST_CASE("the root begins each tree, with its number") {
  OneProcess root(seven, 0);
  CHECK(root.said() == "deliver:0 tree>1/input tree>3/input#0");
}

TEST_CASE("an inner node sends on as soon as it is colored, by whichever tree, and once") {
  OneProcess inner(seven, 1);
  CHECK(inner.said() == "");
  inner.hear(MessageKind::tree, 4, 0, 1);
  CHECK(inner.said() == "colored:4 deliver:4 tree>2/result tree>3/result tree>4/result");
  inner.hear(MessageKind::tree, 0, 0, 0);
  CHECK(inner.said() == "");
}

TEST_CASE("who is a leaf in all trees only receives") {
  OneProcess leaf(seven, 6);
  leaf.hear(MessageKind::tree, 2);
  CHECK(leaf.said() == "colored:2 deliver:2");
}

TEST_CASE("another root: ranks are shifted") {
  MultiTreeConfig config = seven;
  config.root = rank_at(5);
  CHECK(OneProcess(config, 5).said() == "deliver:5 tree>6/input tree>1/input#0");
}

}  // namespace
}  // namespace resprout::protocols
