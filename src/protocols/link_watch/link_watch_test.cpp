// What is due and does not come is asked for; a link is silent if the peer is at work and says
// nothing on it.
#include "protocols/link_watch/link_watch.hpp"

#include "doctest/doctest.h"

using namespace resprout;
using protocols::LinkWatch;
using Step = LinkWatch::Step;

namespace {

constexpr Duration patience = 100;

}  // namespace

TEST_CASE("nothing is asked while the peer is not late, or says anything at all") {
  LinkWatch watch({0}, 7);
  CHECK(watch.handle_look({99}, 7, patience) == Step::none);
  std::uint64_t heard = 7;
  for (std::int64_t now = 150; now < 5000; now += 150) {
    CAPTURE(now);
    CHECK(watch.handle_look({now}, ++heard, patience) == Step::none);
  }
}

TEST_CASE("a silent peer is asked, then doubted, and reported once it was at work for long") {
  LinkWatch watch({0}, 0);
  CHECK(watch.handle_look({100}, 0, patience) == Step::ask);
  CHECK(watch.handle_look({150}, 0, patience) == Step::none);
  CHECK(watch.handle_look({200}, 0, patience) == Step::ask_detector);
  watch.handle_at_work({210});
  CHECK(watch.handle_look({300}, 0, patience) == Step::none);
  CHECK(watch.handle_look({310}, 0, patience) == Step::report);
  CHECK(watch.handle_look({320}, 0, patience) == Step::none);
  CHECK(watch.handle_look({410}, 0, patience) == Step::report);
}

TEST_CASE("who does not say that it is at work is asked for ever, and never reported") {
  LinkWatch watch({0}, 0);
  CHECK(watch.handle_look({100}, 0, patience) == Step::ask);
  for (std::int64_t now = 200; now < 100000; now += 100) {
    CAPTURE(now);
    CHECK(watch.handle_look({now}, 0, patience) == Step::ask_detector);
  }
}

TEST_CASE("an answer begins everything anew, also the last moment before a report") {
  LinkWatch watch({0}, 0);
  watch.handle_look({100}, 0, patience);
  watch.handle_look({200}, 0, patience);
  watch.handle_at_work({201});
  CHECK(watch.handle_look({301}, 1, patience) == Step::none);
  CHECK(watch.handle_look({401}, 1, patience) == Step::ask);
}

TEST_CASE("an old answer of the detector's counts for nothing") {
  LinkWatch watch({0}, 0);
  watch.handle_at_work({1});
  CHECK(watch.handle_look({100}, 0, patience) == Step::ask);
  watch.handle_at_work({101});
  CHECK(watch.handle_look({200}, 0, patience) == Step::ask_detector);
  CHECK(watch.handle_look({300}, 0, patience) == Step::ask_detector);
}

TEST_CASE("time in which the process itself did not run is not the peer's silence") {
  LinkWatch watch({0}, 0);
  watch.forgive({5000}, 4950);
  CHECK(watch.handle_look({5000}, 0, patience) == Step::none);
  CHECK(watch.handle_look({5050}, 0, patience) == Step::ask);
}
