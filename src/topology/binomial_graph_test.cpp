// The binomial graph: what Plan B's section 3.2 says of it, and where that is not so.
#include "topology/binomial_graph.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::topology {
namespace {

std::vector<std::int32_t> links(const BinomialGraph& graph, std::int32_t v) {
  std::vector<std::int32_t> list;
  for (std::int32_t number = 0; number < graph.link_numbers(); ++number)
    if (const std::int32_t w = graph.link(v, number); w >= 0) list.push_back(w);
  return list;
}

// Bit w of element v: they are linked.
std::vector<std::uint32_t> rows_of(const BinomialGraph& graph) {
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(graph.procs));
  for (std::int32_t v = 0; v < graph.procs; ++v)
    for (const std::int32_t w : links(graph, v)) rows[static_cast<std::size_t>(v)] |= 1u << w;
  return rows;
}

bool is_connected(const std::vector<std::uint32_t>& rows, std::uint32_t living) {
  std::uint32_t reached = living & (0u - living);
  for (std::uint32_t before = 0; before != reached;) {
    before = reached;
    for (std::size_t v = 0; v < rows.size(); ++v)
      if ((reached >> v & 1) != 0) reached |= rows[v] & living;
  }
  return reached == living;
}

TEST_CASE("v is linked with v + 2^i, then with v - 2^i, each once") {
  CHECK(links({1}, 0).empty());
  CHECK(links({2}, 1) == std::vector<std::int32_t>{0});
  CHECK(links({5}, 0) == std::vector<std::int32_t>{1, 2, 4, 3});
  CHECK(links({8}, 0) == std::vector<std::int32_t>{1, 2, 4, 7, 6});
  CHECK(links({12}, 0) == std::vector<std::int32_t>{1, 2, 4, 8, 11, 10});
  CHECK(links({13}, 5) == std::vector<std::int32_t>{6, 7, 9, 0, 4, 3, 1, 10});
}

TEST_CASE("links go both ways, from nobody to itself, and to equally many from all") {
  for (std::int32_t procs = 1; procs <= 70; ++procs) {
    const BinomialGraph graph{procs};
    for (std::int32_t v = 0; v < procs; ++v) {
      const auto list = links(graph, v);
      const std::set<std::int32_t> neighbors(list.begin(), list.end());
      CHECK(neighbors.size() == list.size());
      CHECK(static_cast<std::int32_t>(neighbors.size()) == graph.degree());
      CHECK(graph.degree() <= 2 * graph.steps());
      for (std::int32_t w = 0; w < procs; ++w) {
        CHECK(graph.are_linked(v, w) == neighbors.contains(w));
        CHECK(graph.are_linked(v, w) == graph.are_linked(w, v));
      }
    }
  }
}

// The paper has 2 * ceil(log2 n) "even in graphs with unremarkable number of vertices".
TEST_CASE("the degree is what the paper says, but where links coincide") {
  CHECK(BinomialGraph{6000}.degree() == 2 * 13);
  CHECK(BinomialGraph{1000}.degree() == 2 * 10);
  CHECK(BinomialGraph{1024}.degree() == 2 * 10 - 1);
  CHECK(BinomialGraph{1025}.degree() == 2 * 11 - 2);
  CHECK(BinomialGraph{12}.degree() == 2 * 4 - 2);
  CHECK(BinomialGraph{13}.degree() == 2 * 4);
}

TEST_CASE("whoever of fewer than its degree is gone, those who are left are connected") {
  for (std::int32_t procs = 2; procs <= 14; ++procs) {
    const auto rows = rows_of({procs});
    const std::int32_t degree = BinomialGraph{procs}.degree();
    const std::uint32_t all = (1u << procs) - 1;
    for (std::uint32_t living = 1; living <= all; ++living)
      if (procs - std::popcount(living) < degree) REQUIRE(is_connected(rows, living));
  }
}

TEST_CASE("as many as its degree can cut the graph, if it is not complete") {
  for (const std::int32_t procs : {6, 8, 9, 10, 11, 12, 13, 14}) {
    const BinomialGraph graph{procs};
    const std::uint32_t all = (1u << procs) - 1;
    CHECK_FALSE(is_connected(rows_of(graph), all & ~rows_of(graph)[0]));
  }
}

TEST_CASE("the largest graph does not overflow") {
  const BinomialGraph graph{0x7fffffff};
  CHECK(graph.steps() == 31);
  CHECK(graph.link(0x7ffffffe, 30) == 0x3fffffff);
  CHECK(graph.link(0, 61) == 0x3fffffff);
  CHECK(graph.are_linked(0, 0x3fffffff));
}

}  // namespace
}  // namespace resprout::topology
