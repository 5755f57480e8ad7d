#include "runtime/net/socket.hpp"

#include <poll.h>

#include <system_error>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

void wait_for(const Fd& fd, short events) {
  pollfd entry{fd.get(), events, 0};
  REQUIRE(poll(&entry, 1, 10000) == 1);
}

TEST_CASE("who listens on the loopback is reached, over IPv4") {
  const Fd listener = listen_on("127.0.0.1");
  const Fd client = connect_to("127.0.0.1", local_port(listener));
  REQUIRE(client.is_open());
  wait_for(client, POLLOUT);
  CHECK(connect_error(client) == 0);
  wait_for(listener, POLLIN);
  CHECK(accept_on(listener).is_open());
  CHECK_FALSE(accept_on(listener).is_open());
}

TEST_CASE("a port that nobody listens on refuses") {
  std::uint16_t port = 0;
  {
    port = local_port(listen_on("127.0.0.1"));
  }
  const Fd client = connect_to("127.0.0.1", port);
  if (client.is_open()) {
    wait_for(client, POLLOUT);
    CHECK(connect_error(client) != 0);
  }
}

TEST_CASE("an address that is none, or not ours, cannot be listened on") {
  CHECK_THROWS_AS(listen_on("localhost"), std::system_error);
  CHECK_THROWS_AS(listen_on("203.0.113.77"), std::system_error);
  CHECK_FALSE(connect_to("nowhere", 1).is_open());
}

TEST_CASE("a port that another process listens on cannot be listened on, and the error says why") {
  const Fd listener = listen_on("127.0.0.1");
  try {
    listen_on("127.0.0.1", local_port(listener));
    FAIL("it was listened on twice");
  } catch (const std::system_error& error) {
    CHECK((error.code() == std::errc::address_in_use));
  }
}

TEST_CASE("both ends of a connection know where the other is, until it is gone") {
  const Fd listener = listen_on("127.0.0.1");
  const Fd client = connect_to("127.0.0.1", local_port(listener));
  wait_for(listener, POLLIN);
  const Fd accepted = accept_on(listener);
  CHECK(peer_of(accepted) == "127.0.0.1");
  CHECK(peer_of(client) == "127.0.0.1");
  CHECK(peer_of(listener).empty());
}

TEST_CASE("the reachable address follows the hint") {
  CHECK(reachable_address("lo") == "127.0.0.1");
  CHECK(reachable_address("127.0.0.1") == "127.0.0.1");
  CHECK(reachable_address("127.0.0.0/8") == "127.0.0.1");
  CHECK(reachable_address("203.0.113.0/24").empty());
  CHECK(reachable_address("no-such-interface").empty());
  CHECK(reachable_address("") != "127.0.0.1");
}

}  // namespace
}  // namespace resprout::runtime
