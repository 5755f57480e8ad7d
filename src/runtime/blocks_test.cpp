#include "runtime/blocks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "doctest/doctest.h"

using namespace resprout::runtime;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> row_of(int rank, const std::string& text) {
  std::vector<std::byte> row(block_bytes(text.size()), std::byte{0xff});
  BlockWriter(row).put(rank, bytes_of(text));
  return row;
}

}  // namespace

TEST_CASE("blocks: an empty row has none") {
  CHECK(!BlockReader({}).next());
  CHECK(!find_block({}, 0));
}

TEST_CASE("blocks: two rows put together are a row with the blocks of both, in order") {
  std::vector<std::byte> row = row_of(7, "seven");
  for (const auto& [rank, text] :
       {std::pair<int, std::string>{2, ""}, {300, "three hundred or so"}}) {
    const auto upper = row_of(rank, text);
    row.insert(row.end(), upper.begin(), upper.end());
  }
  BlockReader reader(row);
  for (const auto& [rank, text] :
       {std::pair<int, std::string>{7, "seven"}, {2, ""}, {300, "three hundred or so"}}) {
    const auto block = reader.next();
    REQUIRE(block);
    CHECK(block->rank == rank);
    CHECK(text_of(block->data) == text);
    CHECK(text_of(*find_block(row, rank)) == text);
  }
  CHECK(!reader.next());
  CHECK(!find_block(row, 3));
}

TEST_CASE("blocks: data are aligned to 16 bytes in an aligned row, and every byte is defined") {
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    alignas(16) std::byte memory[256];
    std::fill(std::begin(memory), std::end(memory), std::byte{0xee});
    const std::span<std::byte> row(memory, 2 * block_bytes(bytes));
    const std::string text(bytes, 'x');
    BlockWriter writer(row);
    writer.put(1, bytes_of(text));
    writer.put(2, bytes_of(text));
    for (const int rank : {1, 2}) {
      const auto data = find_block(row, rank);
      REQUIRE(data);
      CHECK(reinterpret_cast<std::uintptr_t>(data->data()) % 16 == 0);
      CHECK(text_of(*data) == text);
    }
    CHECK(std::find(row.begin(), row.end(), std::byte{0xee}) == row.end());
    CHECK(memory[row.size()] == std::byte{0xee});
  }
}

TEST_CASE("blocks: a row may be the content of a block") {
  const auto inner = row_of(5, "from four to five");
  std::vector<std::byte> outer(block_bytes(inner.size()));
  BlockWriter(outer).put(4, inner);
  CHECK(text_of(*find_block(*find_block(outer, 4), 5)) == "from four to five");
}

TEST_CASE("blocks: reading ends where there is no block, and that is no row") {
  auto row = row_of(2, "two");
  CHECK(is_row(row, 3));
  CHECK_FALSE(is_row(row, 2));  // there is no rank 2
  CHECK(is_row({}, 1));
  for (std::size_t cut = 1; cut < row.size(); ++cut) {
    const auto part = std::span(row).first(cut);
    CHECK_FALSE(is_row(part, 3));
    CHECK_FALSE(find_block(part, 2));
  }
  row[15] = std::byte{0x80};  // far too long
  CHECK_FALSE(is_row(row, 3));
  CHECK_FALSE(BlockReader(row).next());
}

TEST_CASE("blocks: who cannot take what others give says so in its block") {
  std::vector<std::byte> row(2 * block_bytes(1));
  BlockWriter writer(row);
  writer.put(0, bytes_of("a"));
  writer.put(1, bytes_of("b"), false);
  CHECK(is_row(row, 2));
  CHECK_FALSE(do_all_take(row));
  CHECK(do_all_take(row_of(0, "c")));
  CHECK(text_of(*find_block(row, 1)) == "b");
}
