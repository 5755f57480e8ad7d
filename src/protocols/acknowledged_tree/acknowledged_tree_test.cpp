// See acknowledged_tree.hpp.
#include "protocols/acknowledged_tree/acknowledged_tree.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<AcknowledgedTree>;

const AcknowledgedTreeConfig four{
    topology::Tree(topology::Shape::binomial, topology::Numbering::interleaved, 2, 4), 4};

TEST_CASE("a leaf acknowledges at once") {
  OneProcess leaf(four, 3);
  CHECK(leaf.said() == "");
  leaf.hear(MessageKind::tree, 1);
  CHECK(leaf.said() == "colored:1 deliver:1 acknowledgment>1/none");
  leaf.hear(MessageKind::tree, 1);
  CHECK(leaf.said() == "");
}

TEST_CASE("an inner node acknowledges after all its children, the root never") {
  OneProcess inner(four, 1);
  inner.hear(MessageKind::tree, 0);
  CHECK(inner.said() == "colored:0 deliver:0 tree>3/result");
  inner.hear(MessageKind::acknowledgment, 3);
  CHECK(inner.said() == "acknowledgment>0/none");
  OneProcess root(four, 0);
  CHECK(root.said() == "deliver:0 tree>1/input tree>2/input");
  root.hear(MessageKind::acknowledgment, 2);
  root.hear(MessageKind::acknowledgment, 1);
  CHECK(root.said() == "");
}

TEST_CASE("the root knows when everybody is colored") {
  const Context now{};
  AcknowledgedTree root(four, rank_at(0));
  CHECK(!root.is_complete());
  root.start(now);
  while (root.poll_send(now)) {
  }
  const auto acknowledge = [&](int from) {
    root.handle_message(now, {rank_at(from), rank_at(0), 0, MessageKind::acknowledgment});
  };
  acknowledge(2);
  CHECK(!root.is_complete());
  acknowledge(1);
  CHECK(root.is_complete());
}

}  // namespace
}  // namespace resprout::protocols
