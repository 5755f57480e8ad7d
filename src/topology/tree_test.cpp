// See tree.hpp, growth.hpp and ring.hpp.
#include "topology/tree.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "doctest/doctest.h"
#include "topology/interleaving.hpp"
#include "topology/ring.hpp"

using namespace resprout::topology;

namespace {

std::vector<std::int32_t> children(const Tree& tree, std::int32_t rank) {
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; tree.child(rank, i) >= 0; ++i) all.push_back(tree.child(rank, i));
  return all;
}

// Empty, or what is wrong with the tree.
std::string defect(const Tree& tree) {
  std::vector<int> seen(static_cast<std::size_t>(tree.procs()), 0);
  for (std::int32_t rank = 0; rank < tree.procs(); ++rank)
    for (const std::int32_t child : children(tree, rank)) {
      if (child >= tree.procs() || child <= rank) return "child out of range";
      if (tree.parent(child) != rank) return std::to_string(child) + " does not know its parent";
      ++seen[static_cast<std::size_t>(child)];
    }
  if (tree.parent(0) != -1 || seen[0] != 0) return "the root has a parent";
  if (std::any_of(seen.begin() + 1, seen.end(), [](int times) { return times != 1; }))
    return "a rank is not the child of exactly one";
  return "";
}

std::vector<std::int32_t> sizes() {
  std::vector<std::int32_t> all;
  for (std::int32_t procs = 1; procs <= 200; ++procs) all.push_back(procs);
  for (const std::int32_t procs : {1000, 1024, 4095, 4097, 65536, 100000}) all.push_back(procs);
  return all;
}

// The subtree below `rank`, itself included, ascending.
std::vector<std::int32_t> subtree(const Tree& tree, std::int32_t rank) {
  std::vector<std::int32_t> all{rank};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::int32_t child : children(tree, all[i])) all.push_back(child);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("every child's parent is its parent, in all shapes, numberings and sizes") {
  for (const std::int32_t procs : sizes())
    for (const Shape shape : {Shape::binomial, Shape::kary, Shape::knomial})
      for (const Numbering numbering : {Numbering::interleaved, Numbering::in_order})
        for (const std::int32_t arity : {2, 3, 4, 7}) {
          CAPTURE(procs);
          CAPTURE(static_cast<int>(shape));
          CAPTURE(static_cast<int>(numbering));
          CAPTURE(arity);
          REQUIRE(defect(Tree(shape, numbering, arity, procs)) == "");
        }
}

TEST_CASE("every child's parent is its parent in Lame and optimal trees") {
  for (const std::int32_t procs : sizes()) {
    CAPTURE(procs);
    for (const int k : {1, 2, 3, 8}) {
      const Growth growth = Growth::lame(procs, k);
      REQUIRE(growth.is_complete());
      REQUIRE(defect(Tree(growth, procs)) == "");
    }
    for (const auto& [latency, overhead, gap] :
         {std::tuple{2, 1, 0}, {3, 2, 0}, {7, 3, 0}, {2, 1, 4}, {1, 1, 9}, {20000, 1000, 0}}) {
      const Growth growth = Growth::optimal(procs, latency, overhead, gap);
      REQUIRE(growth.is_complete());
      REQUIRE(defect(Tree(growth, procs)) == "");
    }
  }
}

TEST_CASE("a chain is a 1-ary tree") {
  CHECK(defect(Tree(Shape::kary, Numbering::interleaved, 1, 50)) == "");
  CHECK(defect(Tree(Shape::kary, Numbering::in_order, 1, 50)) == "");
}

TEST_CASE("a tree grows up to the largest rank there is") {
  const Tree binomial(Shape::binomial, Numbering::interleaved, 2, INT32_MAX);
  CHECK(binomial.child(0, 30) == 1 << 30);
  CHECK(binomial.child(0, 31) == -1);
  CHECK(binomial.parent(INT32_MAX - 1) == INT32_MAX - 1 - (1 << 30));
  const Tree quaternary(Shape::kary, Numbering::interleaved, 4, INT32_MAX);
  const std::int32_t parent = quaternary.parent(INT32_MAX - 1);
  CHECK(quaternary.child(parent, 0) < INT32_MAX);
  CHECK(quaternary.parent(quaternary.child(parent, 0)) == parent);
  CHECK(Growth::lame(INT32_MAX, 2).is_complete());
}

TEST_CASE(
    "definition 1: every interleaved tree is interleaved, of any size, also an incomplete one") {
  for (std::int32_t procs = 1; procs <= 70; ++procs) {
    CAPTURE(procs);
    for (const std::int32_t k : {1, 2, 3, 4, 7, 80}) {
      CAPTURE(k);
      CHECK(is_interleaved(Tree(Shape::kary, Numbering::interleaved, k, procs)));
      CHECK(is_interleaved(Tree(Shape::knomial, Numbering::interleaved, k + 1, procs)));
      CHECK(is_interleaved(Tree(Growth::lame(procs, k), procs)));
    }
    CHECK(is_interleaved(Tree(Shape::binomial, Numbering::interleaved, 2, procs)));
    for (const auto& [latency, overhead] :
         {std::pair{0, 1}, {1, 1}, {2, 1}, {5, 1}, {4, 2}, {9, 3}, {0, 4}}) {
      CAPTURE(latency);
      CHECK(is_interleaved(Tree(Growth::optimal(procs, latency, overhead), procs)));
    }
  }
}

TEST_CASE("definition 1: in-order trees are not interleaved, once a subtree has two levels") {
  for (const std::int32_t procs : {6, 7, 8, 20, 64}) {
    CAPTURE(procs);
    CHECK(!is_interleaved(Tree(Shape::kary, Numbering::in_order, 2, procs)));
    CHECK(!is_interleaved(Tree(Shape::binomial, Numbering::in_order, 2, procs)));
    CHECK(!is_interleaved(Tree(Shape::knomial, Numbering::in_order, 3, procs + 8)));
  }
}

TEST_CASE("a flat in-order tree of a million answers at once") {
  const Tree flat(Shape::kary, Numbering::in_order, 1 << 20, 1 << 20);
  const Tree thin(Shape::kary, Numbering::in_order, 1, 1 << 20);
  for (std::int32_t rank = 1; rank < 1 << 20; ++rank) {
    REQUIRE(flat.child(0, rank - 1) == rank);
    REQUIRE(flat.parent(rank) == 0);
    REQUIRE(thin.parent(rank) == rank - 1);
  }
}

TEST_CASE("figure 3: binary tree of 7, interleaved and in-order") {
  const Tree interleaved(Shape::kary, Numbering::interleaved, 2, 7);
  CHECK(children(interleaved, 0) == std::vector<std::int32_t>{1, 2});
  CHECK(children(interleaved, 1) == std::vector<std::int32_t>{3, 5});
  CHECK(children(interleaved, 2) == std::vector<std::int32_t>{4, 6});
  const Tree in_order(Shape::kary, Numbering::in_order, 2, 7);
  CHECK(children(in_order, 0) == std::vector<std::int32_t>{1, 4});
  CHECK(children(in_order, 4) == std::vector<std::int32_t>{5, 6});
}

TEST_CASE("figure 4: binomial tree of 8, interleaved and in-order") {
  const Tree interleaved(Shape::binomial, Numbering::interleaved, 2, 8);
  CHECK(children(interleaved, 0) == std::vector<std::int32_t>{1, 2, 4});
  CHECK(children(interleaved, 1) == std::vector<std::int32_t>{3, 5});
  const Tree in_order(Shape::binomial, Numbering::in_order, 2, 8);
  CHECK(children(in_order, 0) == std::vector<std::int32_t>{1, 5, 7});
  CHECK(children(in_order, 1) == std::vector<std::int32_t>{2, 4});
}

TEST_CASE("figure 5: in the Lame tree of order 3 process 1 first sends in iteration 3") {
  const Growth growth = Growth::lame(9, 3);
  CHECK(growth.first_send(1) == 3);
  CHECK(growth.first_send(2) == 4);
  const Tree tree(growth, 9);
  CHECK(children(tree, 0) == std::vector<std::int32_t>{1, 2, 3, 4, 6});
  CHECK(children(tree, 1) == std::vector<std::int32_t>{5, 7});
  CHECK(children(tree, 2) == std::vector<std::int32_t>{8});
}

TEST_CASE("a Lame tree of order 1 is binomial, a k-nomial tree of radix 2 too") {
  const Growth growth = Growth::lame(300, 1);
  const Tree lame(growth, 300);
  const Tree knomial(Shape::knomial, Numbering::interleaved, 2, 300);
  const Tree binomial(Shape::binomial, Numbering::interleaved, 2, 300);
  for (std::int32_t rank = 0; rank < 300; ++rank) {
    CHECK(children(lame, rank) == children(binomial, rank));
    CHECK(children(knomial, rank) == children(binomial, rank));
  }
}

TEST_CASE("both numberings number the same tree") {
  for (const std::int32_t procs : {1, 2, 7, 13, 64, 100, 129})
    for (const Shape shape : {Shape::binomial, Shape::kary, Shape::knomial}) {
      const Tree interleaved(shape, Numbering::interleaved, 3, procs);
      const Tree in_order(shape, Numbering::in_order, 3, procs);
      std::vector<std::pair<std::int32_t, std::int32_t>> pairs{{0, 0}};
      for (std::size_t at = 0; at < pairs.size(); ++at) {
        const auto [a, b] = pairs[at];
        REQUIRE(children(interleaved, a).size() == children(in_order, b).size());
        for (std::size_t i = 0; i < children(interleaved, a).size(); ++i)
          pairs.emplace_back(children(interleaved, a)[i], children(in_order, b)[i]);
      }
      CHECK(pairs.size() == static_cast<std::size_t>(procs));
      for (std::int32_t rank = 0; rank < procs; ++rank) {  // a subtree is a range
        const auto below = subtree(in_order, rank);
        CHECK(below.back() - below.front() == static_cast<std::int32_t>(below.size()) - 1);
      }
    }
}

TEST_CASE("going round the ring and back is going nowhere") {
  for (const std::int32_t procs : {1, 2, 3, 10})
    for (std::int32_t from = 0; from < procs; ++from)
      for (std::int32_t offset = -procs; offset <= procs; ++offset) {
        const std::int32_t to = ring_neighbor(from, offset, procs);
        REQUIRE((to >= 0 && to < procs));
        CHECK(ring_neighbor(to, -offset, procs) == from);
        CHECK(ring_distance(from, to, procs) == (offset + procs) % procs);
      }
}
