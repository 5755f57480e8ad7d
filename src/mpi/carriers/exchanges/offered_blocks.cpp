#include "mpi/carriers/exchanges/offered_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>

#include "runtime/blocks.hpp"

namespace resprout::shim {
namespace {

// What is read before the engine is driven again.
constexpr std::size_t read_at_once_max = std::size_t{1} << 20;

// The system does not let this process read the memory of others.
std::atomic<bool> is_reading_refused = false;

// Where a block is, from the offered address on.
struct BlockPlace {
  std::uint64_t at;
  std::uint64_t bytes;
};

}  // namespace

std::vector<std::byte> OfferedBlocks::offer(std::span<const std::span<const std::byte>> given) {
  const std::byte* lowest = nullptr;
  for (const auto& block : given)
    if (!block.empty() && (lowest == nullptr || std::less<>()(block.data(), lowest)))
      lowest = block.data();
  runtime::MemoryOffer told;
  if (!is_reading_refused.load(std::memory_order_relaxed))
    told = memory_.emplace(std::span(lowest, lowest == nullptr ? 0 : 1)).offer();
  std::vector<std::byte> said(sizeof told + given.size() * sizeof(BlockPlace));
  std::memcpy(said.data(), &told, sizeof told);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t at =
        given[i].empty() ? 0 : static_cast<std::size_t>(given[i].data() - lowest);
    const BlockPlace place{at, given[i].size()};
    std::memcpy(said.data() + sizeof told + i * sizeof place, &place, sizeof place);
  }
  return said;
}

bool OfferedBlocks::take_offer(int from, int self, int ranks, std::span<const std::byte> told) {
  runtime::MemoryOffer offer;
  BlockPlace place{};
  if (told.size() != sizeof offer + static_cast<std::size_t>(ranks) * sizeof place) return false;
  std::memcpy(&offer, told.data(), sizeof offer);
  std::memcpy(&place, told.data() + sizeof offer + static_cast<std::size_t>(self) * sizeof place,
              sizeof place);
  if (offer.stamp == 0) is_refused_ = true;
  if (from != self) blocks_.push_back({from, offer, place.at, place.bytes});
  return true;
}

void OfferedBlocks::begin_reading() {
  std::size_t bytes = 0;
  for (Block& block : blocks_) {
    block.landing_at = bytes;
    bytes += runtime::block_bytes(block.bytes);  // as aligned as blocks of a row
  }
  landing_ = runtime::Buffer(bytes);
}

bool OfferedBlocks::read_some() {
  if (reading_ == blocks_.size()) return true;
  runtime::SystemMemoryReader reader;
  Block& block = blocks_[reading_];
  const std::size_t left = block.bytes - read_;
  const std::size_t part = std::min(left, read_at_once_max);
  std::byte* const into = landing_.data() + block.landing_at + read_;
  auto read = runtime::MemoryRead::done;
  if (left != 0) read = reader.read(block.offer, block.at + read_, {into, part});
  if (read == runtime::MemoryRead::done && part == left) read = reader.confirm(block.offer);
  if (read == runtime::MemoryRead::refused) {
    is_reading_refused.store(true, std::memory_order_relaxed);
    is_refused_ = true;
    return true;
  }
  read_ += part;
  if (read == runtime::MemoryRead::done && part != left) return false;
  block.is_read = read == runtime::MemoryRead::done;
  read_ = 0;
  return ++reading_ == blocks_.size();
}

bool OfferedBlocks::has_read(int from) const {
  return std::ranges::any_of(
      blocks_, [from](const Block& block) { return block.from == from && block.is_read; });
}

}  // namespace resprout::shim
