#include "runtime/slot_memory.hpp"

namespace resprout::runtime {

std::byte* SlotMemory::nothing() {
  alignas(64) static std::byte empty[area_bytes];
  return empty;
}

SlotMemory::SlotMemory(int self, int members)
    : self_(self), areas_(static_cast<std::size_t>(members), SlotArea{nothing(), 0}) {}

}  // namespace resprout::runtime
