#include "runtime/checkpoints/recovery.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

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

// Of a code of this generation whose group has everything but what `owner` had.
std::optional<Rebuilt> rebuild(int owner, std::uint64_t generation, const Parts& parts,
                               std::span<const CodeHolding> codes) {
  for (const CodeHolding& first : codes) {
    const auto members = first.group.ranks();
    if (first.generation != generation ||
        std::find(members.begin(), members.end(), owner) == members.end())
      continue;
    Rebuilt found{.owner = owner, .group = first.group, .holders = {}};
    for (const int member : members) {
      const auto kept = std::find_if(codes.begin(), codes.end(), [&](const CodeHolding& it) {
        return it.keeper == member && it.generation == generation && it.group == first.group;
      });
      const bool is_there =
          parts[static_cast<std::size_t>(member)].has_value() && kept != codes.end();
      if (member != owner && !is_there) break;
      found.holders.push_back(member == owner ? -1 : kept->holder);
    }
    if (found.holders.size() == members.size()) return found;
  }
  return std::nullopt;
}

Holding rebuilt_holding(const Rebuilt& it, std::uint64_t generation) {
  const auto members = it.group.ranks();
  const auto place = std::find(members.begin(), members.end(), it.owner) - members.begin();
  return {.holder = it.owner,
          .owner = it.owner,
          .place = Held::code,
          .generation = generation,
          .bytes = it.group.lengths()[static_cast<std::size_t>(place)]};
}

// What there is of this generation, and who lacks a part.
struct Attempt {
  std::vector<Holding> of_owners;
  std::vector<Rebuilt> rebuilt;
  std::vector<int> lost;
};

Attempt attempt(std::uint64_t generation, std::span<const Holding> holdings,
                std::span<const CodeHolding> codes, int ranks) {
  const Parts parts = parts_of(generation, holdings, ranks);
  Attempt result;
  for (int owner = 0; owner < ranks; ++owner) {
    if (const auto& part = parts[static_cast<std::size_t>(owner)]) {
      result.of_owners.push_back(*part);
    } else if (auto found = rebuild(owner, generation, parts, codes)) {
      result.of_owners.push_back(rebuilt_holding(*found, generation));
      result.rebuilt.push_back(std::move(*found));
    } else {
      result.lost.push_back(owner);
    }
  }
  return result;
}

}  // namespace

Recovery find_recovery(std::span<const Holding> holdings, std::span<const CodeHolding> codes,
                       int ranks) {
  Recovery recovery;
  std::set<std::uint64_t, std::greater<>> generations;
  const auto note = [&](const auto& it) {
    generations.insert(it.generation);
    recovery.counted = std::max(recovery.counted, it.counted);
  };
  for (const Holding& it : holdings) note(it);
  for (const CodeHolding& it : codes) note(it);
  if (!generations.empty()) recovery.newest = *generations.begin();
  for (const std::uint64_t generation : generations) {
    Attempt found = attempt(generation, holdings, codes, ranks);
    if (!found.lost.empty()) continue;
    recovery.generation = generation;
    recovery.of_owners = std::move(found.of_owners);
    recovery.rebuilt = std::move(found.rebuilt);
    return recovery;
  }
  recovery.lost = attempt(recovery.counted, holdings, codes, ranks).lost;
  return recovery;
}

}  // namespace resprout::runtime
