// See growth.hpp. What all trees have in common is in tree_test.cpp.
#include "topology/growth.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "doctest/doctest.h"
#include "topology/interleaving.hpp"
#include "topology/tree.hpp"

using namespace resprout::topology;

namespace {

struct Model {
  std::int64_t latency, overhead, gap;

  std::int64_t spacing() const { return std::max(overhead, gap); }
  std::int64_t hop() const { return 2 * overhead + latency; }
};

// When the last of `procs` is reached.
std::int64_t latency_of(const Tree& tree, const Model& model) {
  std::vector<std::int64_t> reached(static_cast<std::size_t>(tree.procs()), 0);
  for (std::int32_t rank = 0; rank < tree.procs(); ++rank)
    for (std::int32_t i = 0; tree.child(rank, i) >= 0; ++i)
      reached[static_cast<std::size_t>(tree.child(rank, i))] =
          reached[static_cast<std::size_t>(rank)] + model.hop() + i * model.spacing();
  return *std::max_element(reached.begin(), reached.end());
}

std::int64_t optimal_latency(std::int32_t procs, const Model& model) {
  const Growth growth = Growth::optimal(procs, model.latency, model.overhead, model.gap);
  REQUIRE(growth.is_complete());
  return latency_of(Tree(growth, procs), model);
}

// The least latency of all broadcasts to 1 .. 12 processes. Any broadcast is an ordered tree, in
// which nobody gains by sending later than it can; all ordered trees are built here, depth first: a
// new node is the next child of any node on the way from the root to the last one.
class Exhaustive {
 public:
  static constexpr std::size_t procs_max = 12;

  explicit Exhaustive(const Model& model) : model_(model) {
    least_.fill(INT64_MAX);
    way_.push_back({0, 0});
    add(1, 0);
  }

  std::int64_t least(std::int32_t procs) const { return least_[static_cast<std::size_t>(procs)]; }

 private:
  struct Node {
    std::int64_t reached;
    std::int64_t children;
  };

  void add(std::size_t procs, std::int64_t last) {
    least_[procs] = std::min(least_[procs], last);
    if (procs == procs_max) return;
    const std::vector<Node> way = way_;
    for (std::size_t depth = 0; depth < way.size(); ++depth) {
      way_.assign(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
      Node& parent = way_.back();
      const std::int64_t reached =
          parent.reached + model_.hop() + parent.children++ * model_.spacing();
      way_.push_back({reached, 0});
      add(procs + 1, std::max(last, reached));
    }
    way_ = way;
  }

  Model model_;
  std::vector<Node> way_;
  std::array<std::int64_t, procs_max + 1> least_{};
};

}  // namespace

TEST_CASE("no tree of up to 12 processes is faster than the optimal one, whatever L, o and g are") {
  for (std::int64_t overhead = 1; overhead <= 3; ++overhead)
    for (std::int64_t latency = 0; latency <= 6; ++latency)
      for (const std::int64_t gap : {0, 2, 4, 7, 12}) {
        const Model model{latency, overhead, gap};
        CAPTURE(latency);
        CAPTURE(overhead);
        CAPTURE(gap);
        const Exhaustive all(model);
        for (std::int32_t procs = 1; procs <= 12; ++procs)
          REQUIRE(optimal_latency(procs, model) == all.least(procs));
      }
}

TEST_CASE("the optimal tree goes by the gap, and by an overhead that does not divide the latency") {
  CHECK(optimal_latency(1024, {2, 1, 4}) == 40);
  CHECK(optimal_latency(1024, {2, 1, 1}) == optimal_latency(1024, {2, 1, 0}));
  CHECK(optimal_latency(1024, {3, 2, 0}) == 44);
}

TEST_CASE("ranks ascend with the times at which they are reached") {
  for (const Model& model : {Model{2, 1, 0}, {3, 2, 0}, {7, 3, 0}, {2, 1, 4}, {1, 1, 9}}) {
    const Growth growth = Growth::optimal(3000, model.latency, model.overhead, model.gap);
    for (std::int32_t rank = 1; rank < 3000; ++rank)
      REQUIRE(growth.first_send(rank) >= growth.first_send(rank - 1));
  }
}

TEST_CASE("definition 1: an optimal tree is interleaved where o divides L, and elsewhere not") {
  for (const Model& model : {Model{2, 1, 0}, {6, 3, 0}, {0, 4, 0}, {4, 1, 3}})
    for (const std::int32_t procs : {30, 100, 150})
      CHECK(is_interleaved(
          Tree(Growth::optimal(procs, model.latency, model.overhead, model.gap), procs)));
  for (const Model& model : {Model{3, 2, 0}, {7, 3, 0}, {2, 1, 3}})
    CHECK(
        !is_interleaved(Tree(Growth::optimal(150, model.latency, model.overhead, model.gap), 150)));
}
