#include "runtime/idle.hpp"

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

// In which looks it sleeps.
int looks_before_sleep(IdleStrategy strategy) {
  strategy.sleep_ns_max = 1;
  Idle idle(strategy);
  int looks = 0;
  bool sleeps = false;
  while (!sleeps) {
    idle.pause([&](long) { sleeps = true; });
    looks += sleeps ? 0 : 1;
  }
  return looks;
}

TEST_CASE("where processes outnumber cores, who waits for other hosts sleeps after a few looks") {
  const IdleStrategy crowded = idle_strategy(3, 2);
  const IdleStrategy roomy = idle_strategy(2, 2);
  CHECK(looks_before_sleep(crowded) == crowded.yields);
  CHECK(looks_before_sleep(crowded.between_hosts()) == 2);
  CHECK(looks_before_sleep(roomy.between_hosts()) == roomy.spins + roomy.yields);
}

}  // namespace
}  // namespace resprout::runtime
