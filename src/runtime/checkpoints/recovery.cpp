#include "runtime/checkpoints/recovery.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

namespace resprout::runtime {
namespace {

using Parts = std::vector<std::optional<Holding>>;  // by owner

// Of several holders of a part the one that is read with the least trouble.
Parts parts_of(std::uint64_t generation, std::span<const Holding> holdings, int ranks) {
  Parts parts(static_cast<std::size_t>(ranks));
  for (const Holding& it : holdings) {
    if (it.generation != generation || it.owner < 0 || it.owner >= ranks) continue;
    auto& part = parts[static_cast<std::size_t>(it.owner)];
    if (!part || std::tie(it.place, it.holder) < std::tie(part->place, part->holder)) part = it;
  }
  return parts;
}

}  // namespace

Recovery find_recovery(std::span<const Holding> holdings, int ranks) {
  Recovery recovery;
  std::set<std::uint64_t, std::greater<>> generations;
  for (const Holding& it : holdings) {
    generations.insert(it.generation);
    recovery.counted = std::max(recovery.counted, it.counted);
  }
  if (!generations.empty()) recovery.newest = *generations.begin();
  for (const std::uint64_t generation : generations) {
    const Parts parts = parts_of(generation, holdings, ranks);
    if (!std::all_of(parts.begin(), parts.end(), [](const auto& it) { return it.has_value(); }))
      continue;
    recovery.generation = generation;
    for (const auto& part : parts) recovery.of_owners.push_back(*part);
    return recovery;
  }
  const Parts parts = parts_of(recovery.counted, holdings, ranks);
  for (int owner = 0; owner < ranks; ++owner)
    if (!parts[static_cast<std::size_t>(owner)]) recovery.lost.push_back(owner);
  return recovery;
}

}  // namespace resprout::runtime
