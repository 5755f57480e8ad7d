#include "runtime/checkpoints/xor_code.hpp"

#include <algorithm>
#include <numeric>

namespace resprout::runtime {

std::vector<std::vector<int>> code_groups(std::span<const int> hosts, int size) {
  const std::size_t ranks = hosts.size();
  if (ranks < 2) return {};
  const auto members = static_cast<std::size_t>(size);
  const std::size_t count = std::min((ranks + members - 1) / members, ranks / 2);
  std::vector<int> by_host(ranks);
  std::iota(by_host.begin(), by_host.end(), 0);
  std::stable_sort(by_host.begin(), by_host.end(), [&](int a, int b) {
    return hosts[static_cast<std::size_t>(a)] < hosts[static_cast<std::size_t>(b)];
  });
  // Dealt out as cards: ranks of a host follow each other, and come to different groups.
  std::vector<std::vector<int>> groups(count);
  for (std::size_t i = 0; i < ranks; ++i) groups[i % count].push_back(by_host[i]);
  for (auto& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

std::size_t chunk_bytes(std::size_t longest, std::size_t members) {
  constexpr std::size_t unit = 8;
  const std::size_t chunks = members - 1;
  return ((longest + chunks - 1) / chunks + unit - 1) / unit * unit;
}

ByteRange bytes_in_chunk(int chunk, std::size_t chunk_bytes, const ByteRange& piece,
                         std::size_t bytes) {
  const std::size_t offset = static_cast<std::size_t>(chunk) * chunk_bytes + piece.offset;
  if (offset >= bytes) return {.offset = bytes, .bytes = 0};
  return {.offset = offset, .bytes = std::min(piece.bytes, bytes - offset)};
}

}  // namespace resprout::runtime
