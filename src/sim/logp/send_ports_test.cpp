// See send_ports.hpp.
#include "sim/logp/send_ports.hpp"

#include <vector>

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

namespace {

// Who is asked at `now`; each of them sends.
std::vector<int> asked(SendPorts& ports, std::int64_t now, bool sends = true) {
  std::vector<int> ranks;
  ports.drain({now}, [&](Rank rank) {
    ranks.push_back(index(rank));
    return sends;
  });
  return ranks;
}

}  // namespace

TEST_CASE("ports are asked in ascending order, once") {
  SendPorts ports(200, 1);
  for (const int rank : {199, 3, 64, 63, 0}) ports.want(rank_at(rank));
  CHECK(asked(ports, 0, false) == std::vector{0, 3, 63, 64, 199});
  CHECK(asked(ports, 1, false).empty());
  CHECK(ports.next({1}) == never);
}

TEST_CASE("ports far apart are asked in ascending order, and each time only who wants") {
  SendPorts ports(20000, 2);
  for (const int rank : {19999, 8191, 5, 4096}) ports.want(rank_at(rank));
  CHECK(asked(ports, 0) == std::vector{5, 4096, 8191, 19999});
  ports.want(rank_at(12345));
  CHECK(asked(ports, 1, false) == std::vector{12345});
  CHECK(asked(ports, 2, false) == std::vector{5, 4096, 8191, 19999});
  ports.want(rank_at(7000));
  ports.open();
  CHECK(asked(ports, 3, false).empty());
}

TEST_CASE("a port that sends is asked again when it is free, wanted or not, and not before") {
  SendPorts ports(70, 5);
  ports.want(rank_at(2));
  CHECK(asked(ports, 0) == std::vector{2});
  ports.want(rank_at(2));
  ports.want(rank_at(69));
  CHECK(asked(ports, 3) == std::vector{69});
  CHECK(ports.next({3}) == Time{5});
  CHECK(asked(ports, 5) == std::vector{2});
  CHECK(ports.next({5}) == Time{8});
}

TEST_CASE("a closed port is never asked, also if it was busy, until all are opened") {
  SendPorts ports(10, 2);
  ports.want(rank_at(4));
  CHECK(asked(ports, 0) == std::vector{4});
  ports.close(rank_at(4));
  CHECK(asked(ports, 2).empty());
  ports.want(rank_at(4));
  CHECK(asked(ports, 3).empty());
  ports.open();
  ports.want(rank_at(4));
  CHECK(asked(ports, 0, false) == std::vector{4});
}
