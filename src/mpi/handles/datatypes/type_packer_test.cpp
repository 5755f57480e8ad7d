#include "mpi/handles/datatypes/type_packer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/testing/random_type.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

using Bytes = std::vector<std::byte>;
using Rows = std::vector<TypePacker::Row>;

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(count);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random.below(256));
  return bytes;
}

// In rooms of this size.
Bytes packed_in_pieces(PackedPieces pieces, std::size_t room_bytes) {
  Bytes all;
  Bytes room(room_bytes);
  for (auto data = pieces.next(room); !data.empty(); data = pieces.next(room))
    all.insert(all.end(), data.begin(), data.end());
  return all;
}

// Elements go forwards or backwards from the middle.
class Elements {
 public:
  Elements(MPI_Datatype datatype, int count) : datatype_(datatype), count_(count) {
    PMPI_Type_commit(&datatype_);
  }
  const std::byte* buffer() const { return memory_.data() + middle; }
  Bytes as_mpi_packs() const {
    int size = 0;
    PMPI_Type_size(datatype_, &size);
    Bytes packed(static_cast<std::size_t>(size) * static_cast<std::size_t>(count_));
    int position = 0;
    if (!packed.empty())
      PMPI_Pack(buffer(), count_, datatype_, packed.data(), static_cast<int>(packed.size()),
                &position, MPI_COMM_SELF);
    return packed;
  }

 private:
  static constexpr std::size_t middle = 16'384;
  MPI_Datatype datatype_;
  int count_;
  Bytes memory_ = random_bytes(2 * middle, 1);
};

void check_as_mpi_packs(std::uint64_t seed) {
  need_mpi();
  INFO("TYPE_PACKER_SEED=" << seed << " mpi_test -tc='elements are packed as MPI packs*'");
  const OwnType made = RandomType(seed).next();
  Random random(seed);
  const Elements elements(made, static_cast<int>(random.below(6)));
  const auto packer = TypePacker::of(made);
  if (packer == nullptr) return;
  const Bytes expected = elements.as_mpi_packs();
  const PackedPieces pieces(*packer, elements.buffer(), expected.size());
  CHECK(packed_in_pieces(pieces, expected.size() + 1) == expected);
  CHECK(packed_in_pieces(pieces, 1 + random.below(64)) == expected);
  if (expected.empty()) return;
  const std::size_t part = random.below(expected.size());
  const PackedPieces beginning(*packer, elements.buffer(), part);
  CHECK(packed_in_pieces(beginning, 1 + random.below(64)) ==
        Bytes(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(part)));
}

}  // namespace

TEST_CASE("equal blocks in equal steps are a row") {
  CHECK(TypePacker({{0, 8}, {16, 8}, {32, 8}}, 40).rows() == Rows{{0, 8, 16, 3}});
  CHECK(TypePacker({{0, 4}, {-4, 4}, {-8, 4}}, 4).rows() == Rows{{0, 4, -4, 3}});
  CHECK(TypePacker({{0, 8}, {16, 8}, {24, 8}, {40, 4}}, 44).rows() ==
        Rows{{0, 8, 16, 2}, {24, 8, 0, 1}, {40, 4, 0, 1}});
}

TEST_CASE("of small blocks that follow no rule the words are listed") {
  const TypePacker doubles({{0, 8}, {16, 16}, {40, 8}, {80, 8}, {200, 24}, {300, 264}}, 600);
  CHECK(doubles.rows() == Rows{{0, 8, std::nullopt, 8}, {300, 264, 0, 1}});
  CHECK(doubles.places() == Addresses{0, 16, 24, 40, 80, 200, 208, 216});
  const TypePacker ints({{40, 4}, {0, 8}, {60, 12}, {20, 4}}, 80);
  CHECK(ints.rows() == Rows{{0, 4, std::nullopt, 7}});
  CHECK(ints.places() == Addresses{40, 0, 4, 60, 64, 68, 20});
  const TypePacker chars({{0, 1}, {5, 2}, {8, 1}, {12, 3}}, 20);
  CHECK(chars.places().empty());
}

TEST_CASE("a block that is larger than the room is given as it lies") {
  const Bytes memory = random_bytes(100, 1);
  const TypePacker packer({{2, 3}, {10, 50}}, 100);
  PackedPieces pieces(packer, memory.data(), 53);
  Bytes room(16);
  CHECK(pieces.next(room).size() == 3);
  const auto in_place = pieces.next(room);
  CHECK(in_place.data() == memory.data() + 10);
  CHECK(in_place.size() == 50);
  CHECK(pieces.next(room).empty());
}

TEST_CASE("elements are packed as MPI packs them, in pieces of any size") {
  const char* given = std::getenv("TYPE_PACKER_SEED");
  if (given != nullptr) return check_as_mpi_packs(std::strtoull(given, nullptr, 10));
  for (std::uint64_t seed = 0; seed < 4000; ++seed) check_as_mpi_packs(seed);
}

TEST_CASE("of what is too much to know, or is not what MPI packs, MPI takes care") {
  CHECK(TypePacker::of(vector_type(1'000'000, 1, 2, MPI_DOUBLE)) != nullptr);
  CHECK(TypePacker::of(vector_type(3'000'000, 1, 2, MPI_DOUBLE)) == nullptr);
  Integers places(200'000);
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int>(3 * i + i % 2 + i / 7 % 2);
  CHECK(TypePacker::of(indexed_block_type(1, places, MPI_DOUBLE)) == nullptr);
  CHECK(TypePacker::of(hvector_type(3, 1, -1, MPI_SHORT)) == nullptr);
}

TEST_CASE("a packer is made when it is asked for again") {
  const OwnType every_other = vector_type(3, 1, 2, MPI_INT);
  CHECK(packer_of(every_other) == nullptr);
  const TypePacker* packer = packer_of(every_other);
  REQUIRE(packer != nullptr);
  CHECK(packer_of(every_other) == packer);
}
