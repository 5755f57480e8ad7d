// The few things that are done with sockets here: listen, accept, connect, all without waiting, all
// closed on exec, without Nagle's delay; and finding out which address others can reach.
//
// Thread rule: functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/net/fd.hpp"

namespace resprout::runtime {

// Port 0: any that is free. Throws std::system_error: `address` is not a numeric IPv4 or IPv6
// address, or not of this host; the port is taken.
Fd listen_on(const std::string& address, std::uint16_t port = 0);

std::uint16_t local_port(const Fd& socket);

// Not open: nobody waits to be accepted, or the process is out of descriptors.
Fd accept_on(const Fd& listener);

// A socket whose connection is being made; not open: it was refused at once. Writable when the
// outcome is there, which `connect_error` tells (0: connected).
Fd connect_to(const std::string& address, std::uint16_t port);
int connect_error(const Fd& socket);

// A numeric IPv4 or IPv6 address as it is always written; nothing: it is none.
std::optional<std::string> canonical_address(const std::string& text);

// The numeric address of the other end; empty if the connection is gone already.
std::string peer_of(const Fd& socket);

// The address of this host that others should use. `hint` is an interface ("eth0"), a network
// ("10.1.0.0/16") or an address; empty: the first interface that is up and not the loopback.
// Empty if nothing fits.
std::string reachable_address(const std::string& hint);

}  // namespace resprout::runtime
