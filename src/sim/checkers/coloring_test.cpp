// See coloring.hpp.
#include "sim/checkers/coloring.hpp"

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

using namespace protocols;

CorrectedTreeConfig binomial(CorrectionRules rules, std::int32_t procs = 16) {
  return {
      .tree = topology::Tree(topology::Shape::binomial, topology::Numbering::interleaved, 2, procs),
      .procs = procs,
      .correction = rules};
}

TEST_CASE("a dead process takes its subtree out of the ring") {
  const auto config = binomial({});
  CHECK(gap_of(config, 0) == 0);
  CHECK(gap_of(config, 1 << 1) == 1);           // 1 3 5 7 ... but never two neighbors
  CHECK(gap_of(config, 1 << 1 | 1 << 2) == 3);  // 1 2 3
  CHECK(gap_of(config, 0xfffe) == 15);
  auto shifted = config;
  shifted.root = rank_at(5);
  CHECK(gap_of(shifted, 1 << 6 | 1 << 7) == 3);
}

TEST_CASE("what checked, failure-proof and delayed promise is about deaths meanwhile") {
  const CorrectionRules checked;
  CHECK(must_color_everybody(binomial(checked), 0xff00, 1));
  CHECK(!must_color_everybody(binomial(checked), 0, 2));
  const CorrectionRules proof{.kind = Correction::failure_proof, .failures = 4};
  CHECK(must_color_everybody(binomial(proof), 0xff00, 4));
  CHECK(!must_color_everybody(binomial(proof), 0, 5));
  const CorrectionRules delayed{.kind = Correction::delayed};
  CHECK(must_color_everybody(binomial(delayed), 0xff00, 0));
  CHECK(!must_color_everybody(binomial(delayed), 0, 1));
}

TEST_CASE("what the opportunistic ones promise is about gaps") {
  CorrectionRules rules{.kind = Correction::opportunistic, .distance = 1};
  CHECK(must_color_everybody(binomial(rules), 1 << 1, 0));
  CHECK(!must_color_everybody(binomial(rules), 1 << 1 | 1 << 2, 0));
  CHECK(!must_color_everybody(binomial(rules), 0, 1));
  rules.sides = Sides::right;
  rules.distance = 3;
  CHECK(must_color_everybody(binomial(rules), 1 << 1 | 1 << 2, 0));
  rules = {.kind = Correction::optimized_opportunistic, .distance = 2};
  CHECK(!must_color_everybody(binomial(rules), 1 << 1, 0));
  rules.heed = Heed::right;
  CHECK(must_color_everybody(binomial(rules), 1 << 1, 0));
  rules = {.kind = Correction::none};
  CHECK(must_color_everybody(binomial(rules), 0, 0));
  CHECK(!must_color_everybody(binomial(rules), 1 << 1, 0));
}

}  // namespace
}  // namespace resprout::sim
