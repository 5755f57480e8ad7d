#include "mpi/policies/replicas/host_map.hpp"

#include <string_view>

namespace resprout::shim {
namespace {

std::vector<int>& known_hosts() {
  static auto* instance = new std::vector<int>;
  return *instance;
}

std::string_view host_in(const runtime::LinkAddress& address) { return address.host.data(); }

}  // namespace

std::vector<int> shared_hosts(std::span<const runtime::LinkAddress> addresses, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const auto share_one = [&](std::size_t one, std::size_t other) {
    for (std::size_t plane = 0; plane * count < addresses.size(); ++plane) {
      const auto of_plane = addresses.subspan(plane * count, count);
      if (host_in(of_plane[one]) != host_in(of_plane[other])) return false;
    }
    return true;
  };
  std::vector<int> first(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    std::size_t other = 0;
    while (!share_one(other, rank)) ++other;
    first[rank] = static_cast<int>(other);
  }
  return first;
}

void learn_shared_hosts(std::span<const runtime::LinkAddress> addresses, int ranks) {
  if (known_hosts().empty()) known_hosts() = shared_hosts(addresses, ranks);
}

std::optional<int> first_on_shared_host(int world_rank) {
  const std::vector<int>& known = known_hosts();
  if (world_rank < 0 || world_rank >= static_cast<int>(known.size())) return std::nullopt;
  return known[static_cast<std::size_t>(world_rank)];
}

}  // namespace resprout::shim
