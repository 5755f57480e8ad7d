// How the planes of a job find each other: each leaves the addresses of its processes in a folder
// of the launcher's, which all of them can read and nobody else may.
//
//   secret       32 bytes, by the launcher, before any plane starts
//   several-hosts  by the launcher, if planes may be on different hosts
//   addresses-K  what plane K's processes have for LinkAddress, by rank; appears whole
//   ended-K      by the launcher: plane K is over, whether or not it has left addresses
//   lost-K       by the launcher: it is over, and was lost
//
// Thread rule: functions without state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/auth/secret.hpp"
#include "runtime/replicas/plane_links.hpp"

namespace resprout::runtime {

// Throws std::system_error or std::runtime_error: it is not there or is none.
auth::Secret read_discovery_secret(const std::string& folder);

// Addresses have to be such that other hosts can reach them.
bool is_on_several_hosts(const std::string& folder);

// Whether the launcher has said so.
bool is_said_to_be_lost(const std::string& folder, std::int32_t plane);

// Says where the processes of a plane are, once. Throws std::system_error: it cannot be written.
void leave_addresses(const std::string& folder, std::int32_t plane,
                     const std::vector<LinkAddress>& by_rank);

// Everybody's, by plane * ranks + rank, as soon as each plane has left them or is over; of one that
// is over without, they are nowhere. `pause` is called between two looks. Throws
// std::runtime_error: a plane has another number of ranks.
std::vector<LinkAddress> meet(const std::string& folder, std::int32_t planes, std::int32_t ranks,
                              const std::function<void()>& pause);

}  // namespace resprout::runtime
