#include "mpi/handles/datatypes/type_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/testing/random_type.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

using ListOfBlocks = std::vector<TypeBlock>;

bool lies_at(MPI_Datatype datatype, const ListOfBlocks& expected) {
  need_mpi();
  const auto blocks = blocks_of(datatype);
  if (!blocks) return false;
  for (const TypeBlock& found : *blocks)
    if (*blocks != expected) MESSAGE("at " << found.at << ": " << found.bytes << " bytes");
  return *blocks == expected;
}

constexpr int block = MPI_DISTRIBUTE_BLOCK;
constexpr int cyclic = MPI_DISTRIBUTE_CYCLIC;
constexpr int none = MPI_DISTRIBUTE_NONE;
constexpr int by_default = MPI_DISTRIBUTE_DFLT_DARG;

}  // namespace

TEST_CASE("what MPI has made itself is a block, but for the gap in a pair") {
  CHECK(lies_at(MPI_CHAR, {{0, 1}}));
  CHECK(lies_at(MPI_DOUBLE, {{0, 8}}));
  CHECK(lies_at(MPI_C_DOUBLE_COMPLEX, {{0, 16}}));
  CHECK(lies_at(MPI_2INT, {{0, 8}}));
  CHECK(lies_at(MPI_DOUBLE_INT, {{0, 12}}));
  CHECK(lies_at(MPI_SHORT_INT, {{0, 2}, {4, 4}}));
  CHECK(lies_at(MPI_LONG_DOUBLE_INT, {{0, sizeof(long double) + sizeof(int)}}));
  MPI_Datatype real = MPI_DATATYPE_NULL;
  PMPI_Type_create_f90_real(12, MPI_UNDEFINED, &real);
  CHECK(lies_at(real, {{0, 8}}));
}

TEST_CASE("elements in a row are one block, unless there are gaps between them") {
  CHECK(lies_at(row_of(1'000'000, MPI_INT), {{0, 4'000'000}}));
  CHECK(lies_at(row_of(0, MPI_INT), {}));
  CHECK(lies_at(row_of(2, MPI_DOUBLE_INT), {{0, 12}, {16, 12}}));
  CHECK(lies_at(row_of(2, MPI_SHORT_INT), {{0, 2}, {4, 4 + 2}, {12, 4}}));
  CHECK(lies_at(copy_type(row_of(3, MPI_INT)), {{0, 12}}));
}

TEST_CASE("a block is where it was when bounds are other ones, but the next is elsewhere") {
  const OwnType wide = resized_type(-8, 16, MPI_INT);
  CHECK(lies_at(wide, {{0, 4}}));
  CHECK(lies_at(row_of(3, wide), {{0, 4}, {16, 4}, {32, 4}}));
  const OwnType backwards = resized_type(0, -4, MPI_INT);
  CHECK(lies_at(row_of(3, backwards), {{0, 4}, {-4, 4}, {-8, 4}}));
}

TEST_CASE("blocks of a vector are a stride apart, which counts extents or bytes") {
  CHECK(lies_at(vector_type(3, 2, 4, MPI_INT), {{0, 8}, {16, 8}, {32, 8}}));
  CHECK(lies_at(vector_type(2, 1, -3, MPI_INT), {{0, 4}, {-12, 4}}));
  CHECK(lies_at(vector_type(1000, 1000, 1000, MPI_INT), {{0, 4'000'000}}));
  CHECK(lies_at(vector_type(0, 5, 7, MPI_INT), {}));
  CHECK(lies_at(hvector_type(3, 2, 9, MPI_INT), {{0, 8}, {9, 8}, {18, 8}}));
  CHECK(lies_at(hvector_type(3, 1, -4, MPI_INT), {{0, 4}, {-4, 4}, {-8, 4}}));
  CHECK(lies_at(hvector_type(2, 1, 4, vector_type(2, 1, 2, MPI_INT)),
                {{0, 4}, {8, 4}, {4, 4}, {12, 4}}));
}

TEST_CASE("indexed blocks are where their indices or addresses say") {
  CHECK(lies_at(indexed_type({2, 0, 1, 1}, {3, 9, 0, 1}, MPI_INT), {{12, 8}, {0, 8}}));
  CHECK(lies_at(hindexed_type({1, 2}, {-6, 2}, MPI_INT), {{-6, 4}, {2, 8}}));
  CHECK(lies_at(indexed_block_type(2, {4, 0, 2}, MPI_INT), {{16, 8}, {0, 16}}));
  CHECK(lies_at(hindexed_block_type(1, {5, 9, -1}, MPI_INT), {{5, 8}, {-1, 4}}));
}

TEST_CASE("a record has its fields in the order in which they are named") {
  const OwnType every_other = vector_type(2, 1, 2, MPI_CHAR);
  CHECK(lies_at(struct_type({1, 2, 1}, {8, 0, 20}, {MPI_DOUBLE, MPI_INT, every_other}),
                {{8, 8}, {0, 8}, {20, 1}, {22, 1}}));
  CHECK(lies_at(struct_type({1, 3}, {0, 4}, {MPI_INT, MPI_CHAR}), {{0, 7}}));
  CHECK(lies_at(struct_type({}, {}, {}), {}));
}

TEST_CASE("blocks of a part of an array are its rows, or several if they are whole") {
  CHECK(lies_at(subarray_type({{4, 5}, {2, 3}, {1, 2}}, MPI_ORDER_C, MPI_CHAR), {{7, 3}, {12, 3}}));
  CHECK(lies_at(subarray_type({{4, 5}, {2, 3}, {1, 2}}, MPI_ORDER_FORTRAN, MPI_CHAR),
                {{9, 2}, {13, 2}, {17, 2}}));
  CHECK(lies_at(subarray_type({{4, 5}, {2, 5}, {1, 0}}, MPI_ORDER_C, MPI_INT), {{20, 40}}));
  CHECK(lies_at(subarray_type({{2, 3, 4}, {2, 1, 2}, {0, 2, 1}}, MPI_ORDER_C, MPI_CHAR),
                {{9, 2}, {21, 2}}));
  CHECK(
      lies_at(row_of(2, subarray_type({{4}, {2}, {1}}, MPI_ORDER_C, MPI_CHAR)), {{1, 2}, {5, 2}}));
}

TEST_CASE("of an array in blocks each process has one, the last ones less or none") {
  const Dealt even{{7}, {block}, {by_default}, {3}};
  CHECK(lies_at(darray_type(even, 0, MPI_ORDER_C, MPI_INT), {{0, 12}}));
  CHECK(lies_at(darray_type(even, 2, MPI_ORDER_C, MPI_INT), {{24, 4}}));
  const Dealt large{{7}, {block}, {5}, {3}};
  CHECK(lies_at(darray_type(large, 1, MPI_ORDER_C, MPI_INT), {{20, 8}}));
  CHECK(lies_at(darray_type(large, 2, MPI_ORDER_C, MPI_INT), {}));
}

TEST_CASE("an array is dealt out like cards") {
  const Dealt single{{7}, {cyclic}, {by_default}, {3}};
  CHECK(lies_at(darray_type(single, 0, MPI_ORDER_C, MPI_CHAR), {{0, 1}, {3, 1}, {6, 1}}));
  CHECK(lies_at(darray_type(single, 1, MPI_ORDER_C, MPI_CHAR), {{1, 1}, {4, 1}}));
  const Dealt in_threes{{14}, {cyclic}, {3}, {2}};
  CHECK(lies_at(darray_type(in_threes, 0, MPI_ORDER_C, MPI_CHAR), {{0, 3}, {6, 3}, {12, 2}}));
  CHECK(lies_at(darray_type(in_threes, 1, MPI_ORDER_C, MPI_CHAR), {{3, 3}, {9, 3}}));
  const Dealt alone{{1'000'000}, {cyclic}, {by_default}, {1}};
  CHECK(lies_at(darray_type(alone, 0, MPI_ORDER_C, MPI_INT), {{0, 4'000'000}}));
}

TEST_CASE("blocks of a distributed array of several dimensions follow its order in memory") {
  // Ranks go through the grid of processes as C does, in either order.
  const Dealt table{{3, 4}, {cyclic, block}, {by_default, by_default}, {2, 2}};
  CHECK(lies_at(darray_type(table, 1, MPI_ORDER_C, MPI_CHAR), {{2, 2}, {10, 2}}));
  CHECK(lies_at(darray_type(table, 2, MPI_ORDER_C, MPI_CHAR), {{4, 2}}));
  CHECK(lies_at(darray_type(table, 1, MPI_ORDER_FORTRAN, MPI_CHAR), {{6, 1}, {8, 2}, {11, 1}}));
  const Dealt columns{{2, 3}, {none, cyclic}, {by_default, by_default}, {1, 2}};
  CHECK(lies_at(darray_type(columns, 0, MPI_ORDER_C, MPI_CHAR), {{0, 1}, {2, 2}, {5, 1}}));
  CHECK(lies_at(darray_type(columns, 1, MPI_ORDER_FORTRAN, MPI_INT), {{8, 8}}));
  CHECK(lies_at(row_of(2, darray_type(columns, 1, MPI_ORDER_FORTRAN, MPI_INT)), {{8, 8}, {32, 8}}));
}

namespace {

// Of each packed byte of an element, how far from the element's address it came from.
std::vector<MPI_Aint> places_as_packed(MPI_Datatype datatype, std::size_t bytes) {
  constexpr auto middle = static_cast<std::size_t>(RandomType::reach) + 16;
  std::vector<MPI_Aint> places(bytes, -static_cast<MPI_Aint>(middle));
  for (const unsigned shift : {0u, 8u}) {
    std::vector<unsigned char> memory(2 * middle);
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<unsigned char>(i >> shift);
    std::vector<unsigned char> packed(bytes + 1);
    int position = 0;
    PMPI_Pack(&memory[middle], 1, datatype, packed.data(), static_cast<int>(bytes), &position,
              MPI_COMM_SELF);
    CHECK(static_cast<std::size_t>(position) == bytes);
    for (std::size_t i = 0; i < bytes; ++i) places[i] += MPI_Aint{packed[i]} << shift;
  }
  return places;
}

std::vector<MPI_Aint> places_in(const ListOfBlocks& blocks) {
  std::vector<MPI_Aint> places;
  for (const TypeBlock& one : blocks)
    for (MPI_Aint i = 0; i < one.bytes; ++i) places.push_back(one.at + i);
  return places;
}

bool are_merged(const ListOfBlocks& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].bytes <= 0 || (i > 0 && blocks[i - 1].at + blocks[i - 1].bytes == blocks[i].at))
      return false;
  return true;
}

void check_as_packed(std::uint64_t seed) {
  need_mpi();
  INFO("TYPE_BLOCKS_SEED=" << seed << " mpi_test -tc='blocks are where MPI packs*'");
  const OwnType made = RandomType(seed).next();
  MPI_Datatype datatype = made;
  PMPI_Type_commit(&datatype);
  int size = 0;
  PMPI_Type_size(datatype, &size);
  const auto blocks = blocks_of(datatype);
  REQUIRE(blocks.has_value());
  CHECK(are_merged(*blocks));
  CHECK(places_in(*blocks) == places_as_packed(datatype, static_cast<std::size_t>(size)));
}

}  // namespace

TEST_CASE("blocks are where MPI packs them from, of any datatype made of any others") {
  const char* given = std::getenv("TYPE_BLOCKS_SEED");
  if (given != nullptr) return check_as_packed(std::strtoull(given, nullptr, 10));
  for (std::uint64_t seed = 0; seed < 4000; ++seed) check_as_packed(seed);
}
