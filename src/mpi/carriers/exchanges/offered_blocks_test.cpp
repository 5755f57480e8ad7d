// Offers within one process: reading the memory of others is the same as reading one's own.
#include "mpi/carriers/exchanges/offered_blocks.hpp"

#include <cstring>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::shim {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int ranks = 2;
constexpr std::size_t long_block = (std::size_t{5} << 20) / 2;  // more than is read at once

// What a rank gives: a block for each.
struct Giver {
  std::vector<Bytes> blocks;
  OfferedBlocks offered;
  Bytes told;

  explicit Giver(std::size_t bytes) : blocks{Bytes(3, std::byte{1}), Bytes(bytes, std::byte{2})} {
    const std::vector<std::span<const std::byte>> given(blocks.begin(), blocks.end());
    told = offered.offer(given);
  }
};

Bytes read_from_zero(OfferedBlocks& reader) {
  while (!reader.read_some()) {
  }
  Bytes read;
  reader.for_each_read([&](int from, std::span<const std::byte> block) {
    CHECK(from == 0);
    read.assign(block.begin(), block.end());
  });
  return read;
}

TEST_CASE("offered blocks: a receiver reads its own block, however long it is") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, long_block}) {
    Giver giver(bytes);
    OfferedBlocks receiver;
    CHECK(receiver.take_offer(0, 1, ranks, giver.told));
    receiver.begin_reading();
    CHECK(read_from_zero(receiver) == giver.blocks[1]);
    CHECK(receiver.has_read(0));
    CHECK(!receiver.has_read(1));
    CHECK(!receiver.are_refused());
  }
}

TEST_CASE("offered blocks: what is taken back before it was read is lacking") {
  Giver giver(long_block);
  OfferedBlocks receiver;
  CHECK(receiver.take_offer(0, 1, ranks, giver.told));
  receiver.begin_reading();
  CHECK(!receiver.read_some());
  giver.offered.take_back();
  read_from_zero(receiver);
  CHECK(!receiver.has_read(0));
}

TEST_CASE("offered blocks: one's own is not read") {
  Giver giver(long_block);
  CHECK(giver.offered.take_offer(0, 0, ranks, giver.told));
  giver.offered.begin_reading();
  CHECK(giver.offered.read_some());
  CHECK(!giver.offered.has_read(0));
}

TEST_CASE("offered blocks: if one offers nothing nobody reads") {
  Giver giver(1);
  std::memset(giver.told.data(), 0, sizeof(runtime::MemoryOffer));
  OfferedBlocks receiver;
  CHECK(receiver.take_offer(0, 1, ranks, giver.told));
  CHECK(receiver.are_refused());
}

TEST_CASE("offered blocks: an offer to another number of ranks is none") {
  Giver giver(1);
  OfferedBlocks receiver;
  CHECK(!receiver.take_offer(0, 1, ranks + 1, giver.told));
}

}  // namespace
}  // namespace resprout::shim
