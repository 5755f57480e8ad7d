#include "mpi/policies/replicas/host_map.hpp"

#include <string_view>

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::shim;

namespace {

using Ranks = std::vector<int>;

// Of each rank of each plane a letter for its host; a space: it has left no address.
std::vector<runtime::LinkAddress> addresses(std::string_view hosts) {
  std::vector<runtime::LinkAddress> all;
  for (const char host : hosts) {
    runtime::LinkAddress address;
    if (host != ' ') address.host[0] = host;
    all.push_back(address);
  }
  return all;
}

}  // namespace

TEST_CASE("ranks share a host if they do so in every plane") {
  CHECK(shared_hosts(addresses("aabb"), 4) == Ranks{0, 0, 2, 2});
  CHECK(shared_hosts(addresses("aabb"
                               "cccc"),
                     4) == Ranks{0, 0, 2, 2});
  CHECK(shared_hosts(addresses("cccc"
                               "aabb"),
                     4) == Ranks{0, 0, 2, 2});
  CHECK(shared_hosts(addresses("aabb"
                               "cddd"),
                     4) == Ranks{0, 1, 2, 2});
  CHECK(shared_hosts(addresses("abab"
                               "cccc"
                               "dddd"),
                     4) == Ranks{0, 1, 0, 1});
}

TEST_CASE("planes that have left no addresses do not count") {
  CHECK(shared_hosts(addresses("    "
                               "ccdd"),
                     4) == Ranks{0, 0, 2, 2});
}
