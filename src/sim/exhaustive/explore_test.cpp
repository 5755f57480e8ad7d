// The explorer can be trusted: its one reduction loses nothing, and broken rules are found.
#include "doctest/doctest.h"
#include "sim/exhaustive/cases.hpp"

namespace resprout::sim {
namespace {

Case small(const std::string& spec, int procs, int crashes) {
  Case given;
  given.spec = spec;
  given.procs = procs;
  given.limits.mischief = {crashes, true, true};
  return given;
}

TEST_CASE("the reduction for ignored messages reaches the same ends") {
  for (const char* spec :
       {"ftco-allreduce", "ftco-reduce", "reliable-broadcast", "native-until-loss", "revoke",
        "agree", "corrected-tree:correction=optimized-opportunistic,d=1,start=overlapped"}) {
    Case given = small(spec, 3, 2);
    const Exploration reduced = explore_case(given).exploration;
    given.limits.is_reduced = false;
    const Exploration full = explore_case(given).exploration;
    CAPTURE(spec);
    CHECK(reduced.violation == "");
    CHECK(full.violation == "");
    CHECK(reduced.ends == full.ends);
    CHECK(reduced.states < full.states);
  }
}

TEST_CASE("the shortest way to disagreement without the promise of a round") {
  Case given = small("ftco-allreduce", 3, 1);
  given.limits.mischief.suspects_the_living = false;
  given.defect = "promise";
  const Finding finding = explore_case(given);
  CHECK(finding.exploration.violation.find("disagrees") != std::string::npos);
  REQUIRE(finding.shortest.way.size() > 0);
  CHECK(finding.shortest.way.size() <= finding.exploration.way.size());
  CHECK(finding.shortest.way.back().find("receives from 0: result of round 0") !=
        std::string::npos);
}

TEST_CASE("a bound on states is told from completeness") {
  Case given = small("ftco-allreduce", 3, 1);
  given.limits.states_max = 10;
  CHECK_FALSE(explore_case(given).exploration.is_complete);
}

TEST_CASE("a wrong case is refused with the valid words") {
  Case given;
  given.spec = "corrected-tree:correction=cheked";
  CHECK(refuse(given).find("checked") != std::string::npos);
  given.spec = "corrected-gossip";
  CHECK(refuse(given).find("rounds") != std::string::npos);
  given = Case{};
  given.root = 4;
  CHECK(refuse(given) != "");
  CHECK(refuse(Case{}) == "");
}

}  // namespace
}  // namespace resprout::sim
