// Which ranks share a host, where replicas have to agree about that.
//
// Planes may be dealt to different numbers of hosts. So that all replicas of a rank make the same
// communicators, two ranks share a host if they do so in every plane: then they can share memory in
// each of them, too. The map is made when the planes first meet (discovery.hpp). Later losses do
// not change it.
//
// Thread rule: known before any call of the program, and not changed afterwards; from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/replicas/plane_links.hpp"

namespace resprout::shim {

// By rank, the lowest rank that shares its host. `addresses`: by plane * ranks + rank; planes that
// have left none do not count.
std::vector<int> shared_hosts(std::span<const runtime::LinkAddress> addresses, int ranks);

// From what all planes left when they met first. Nothing changes where it is known already.
void learn_shared_hosts(std::span<const runtime::LinkAddress> addresses, int ranks);

// The lowest rank of the world that shares its host. Nothing: each plane sees its own hosts.
std::optional<int> first_on_shared_host(int world_rank);

}  // namespace resprout::shim
