#include "protocols/ftco_in_band/timing.hpp"

#include <algorithm>

#include "protocols/ftco_in_band/service_distance.hpp"

namespace resprout::protocols {
namespace {

using topology::RangeForest;

std::int64_t descendants_at(const RangeForest& forest, std::int32_t rank, std::int32_t levels) {
  if (levels == 0) return 1;
  if (levels == 1) return forest.children(rank);
  std::int64_t count = 0;
  forest.for_each_child(rank, [&](std::int32_t child, std::int32_t) {
    count += descendants_at(forest, child, levels - 1);
  });
  return count;
}

// The relatives of `rank` in a straight line, up or down.
std::int64_t relatives_at(const RangeForest& forest, std::int32_t rank, std::int32_t levels) {
  std::int32_t above = rank;
  for (std::int32_t i = 0; i < levels && above >= 0; ++i) above = forest.parent(above);
  return descendants_at(forest, rank, levels) + (above >= 0 ? 1 : 0);
}

}  // namespace

std::int32_t neighbors_of(const RangeForest& forest, std::int32_t rank) {
  return forest.children(rank) + (forest.is_root(rank) ? forest.fellows() : 1);
}

// What is due last comes up the largest subtrees; then all children may have arrived at once.
Duration contributions_due(const RangeForest& forest, std::int32_t rank, const Timing& timing) {
  Duration due = 0;
  for (std::int32_t at = rank;;) {
    std::int32_t largest = -1;
    std::int32_t size = 0;
    std::int32_t children = 0;
    forest.for_each_child(at, [&](std::int32_t child, std::int32_t) {
      ++children;
      if (forest.size(child) <= size) return;
      largest = child;
      size = forest.size(child);
    });
    if (children == 0) return due;
    due += timing.latency + (1 + children) * timing.overhead;
    at = largest;
  }
}

Duration result_due(const RangeForest& forest, std::int32_t rank, const Timing& timing,
                    bool is_broadcast) {
  Duration due = 0;
  std::int32_t at = rank;
  for (std::int32_t above = forest.parent(at); above >= 0; above = forest.parent(at)) {
    std::int32_t before = 0;
    for (std::int32_t sibling = above + 1; sibling != at; sibling += forest.size(sibling)) ++before;
    due += timing.latency + (2 + before) * timing.overhead;
    at = above;
  }
  if (is_broadcast) return due;
  due += contributions_due(forest, forest.root(0), timing);
  if (forest.fellows() > 0) due += timing.latency + forest.roots * timing.overhead;
  return due;
}

Duration patience_with(const RangeForest& forest, std::int32_t rank, std::int32_t distance,
                       const Timing& timing) {
  const std::int64_t interval = interval_of(std::max(neighbors_of(forest, rank), 1));
  const std::int64_t relatives =
      distance == 1 ? neighbors_of(forest, rank) : relatives_at(forest, rank, distance);
  const std::int64_t turns = std::max<std::int64_t>(relatives, 1) << std::min(distance, 30);
  const std::int64_t intervals = (turns + interval - 1) / interval;
  return 2 * timing.latency + interval * intervals * timing.overhead;
}

}  // namespace resprout::protocols
