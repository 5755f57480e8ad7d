#include "runtime/lane_memory.hpp"

namespace resprout::runtime {

std::byte* LaneMemory::nothing() {
  alignas(64) static std::byte empty[area_bytes];
  return empty;
}

LaneMemory::LaneMemory(int self, int members)
    : self_(self), areas_(static_cast<std::size_t>(members), LaneArea{nothing(), 0}) {}

}  // namespace resprout::runtime
