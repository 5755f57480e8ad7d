// Nobody is accused for want of a processor: a run for `make soak`, since no wait of a test decides
// how long a machine may stand still.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "runtime/lifeline/lifeline_test.hpp"

namespace resprout::runtime {
namespace {

// LIFELINE_LOAD_SECONDS in the environment, up to an hour; 0: not asked for.
unsigned load_seconds() {
  const char* given = std::getenv("LIFELINE_LOAD_SECONDS");
  if (given == nullptr) return 0;
  return static_cast<unsigned>(std::clamp(std::strtol(given, nullptr, 10), 1L, 3600L));
}

TEST_CASE("16 processes on busy cores accuse nobody, on one host and on 16" *
          doctest::skip(load_seconds() == 0)) {
  const int burners = 8 * static_cast<int>(std::thread::hardware_concurrency());
  for (const int hosts : {1, 16}) {
    CAPTURE(hosts);
    Shared<std::atomic<bool>> is_over;
    const unsigned lasts_seconds = load_seconds() + testing::watchdog_seconds;
    const Processes load(
        burners,
        [&](int) {
          while (!*is_over) continue;
        },
        lasts_seconds);
    Scene scene({.procs = 16, .hosts = hosts, .lasts_seconds = lasts_seconds});
    nap_ms(static_cast<int>(load_seconds()) * 1000);
    int accusations = 0;
    for (int rank = 0; rank < 16; ++rank)
      accusations += static_cast<int>(scene.board().accusations[rank]);
    CHECK(accusations == 0);
    *is_over = true;
    scene.finish({}, LossKind::exited);
  }
}

}  // namespace
}  // namespace resprout::runtime
