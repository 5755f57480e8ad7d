#include "mpi/carriers/carrier.hpp"

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

}  // namespace

TEST_CASE("the rule leaves all but small broadcasts to the library where each rank has a core") {
  const Place place{2, false};
  CHECK(is_native_faster_mostly(place, Kind::barrier, 0));
  CHECK(is_native_faster_mostly(place, Kind::reduce, 8));
  CHECK(is_native_faster_mostly(place, Kind::allreduce, 8));
  CHECK(is_native_faster_mostly(place, Kind::broadcast, 16 * kib + 1));
  CHECK_FALSE(is_native_faster_mostly(place, Kind::broadcast, 16 * kib));
  CHECK_FALSE(is_native_faster_mostly(place, Kind::broadcast, 8));
}

TEST_CASE("the rule leaves the library only what is large and of few where ranks share cores") {
  for (const int ranks : {2, 4, 5, 8, 64}) {
    CAPTURE(ranks);
    const Place place{ranks, true};
    const bool are_few = ranks <= 4;
    CHECK_FALSE(is_native_faster_mostly(place, Kind::barrier, 0));
    CHECK_FALSE(is_native_faster_mostly(place, Kind::allreduce, 512 * kib - 1));
    CHECK(is_native_faster_mostly(place, Kind::allreduce, 512 * kib) == are_few);
    CHECK(is_native_faster_mostly(place, Kind::reduce, 4 * mib) == are_few);
    CHECK_FALSE(is_native_faster_mostly(place, Kind::broadcast, 64 * kib - 1));
    CHECK(is_native_faster_mostly(place, Kind::broadcast, 64 * kib) == are_few);
    CHECK(is_native_faster_mostly(place, Kind::broadcast, mib - 1) == are_few);
    CHECK_FALSE(is_native_faster_mostly(place, Kind::broadcast, mib));
  }
}

TEST_CASE("the rule leaves all but small scatters of many to it between hosts") {
  constexpr Place place{8, false};
  for (const Kind kind :
       {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::gather, Kind::alltoall})
    for (const std::size_t bytes : {std::size_t{8}, 64 * kib, mib})
      CHECK(is_native_faster_between_hosts(place, kind, bytes));
  CHECK(is_native_faster_between_hosts({2, false}, Kind::scatter, 8));
  CHECK_FALSE(is_native_faster_between_hosts({3, false}, Kind::scatter, 8));
  CHECK_FALSE(is_native_faster_between_hosts(place, Kind::scatter, 4 * kib));
  CHECK(is_native_faster_between_hosts(place, Kind::scatter, 4 * kib + 1));
}

TEST_CASE("the rule leaves it no small call for all between hosts that share cores") {
  constexpr Place place{8, true};
  for (const Kind kind : {Kind::broadcast, Kind::allreduce}) {
    CHECK_FALSE(is_native_faster_between_hosts(place, kind, 512 * kib - 1));
    CHECK(is_native_faster_between_hosts(place, kind, 512 * kib));
    CHECK(is_native_faster_between_hosts({2, true}, kind, 8));
  }
  CHECK_FALSE(is_native_faster_between_hosts(place, Kind::barrier, 0));
  CHECK(is_native_faster_between_hosts(place, Kind::reduce, 8));
}
