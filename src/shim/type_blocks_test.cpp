#include "shim/type_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "shim/testing/mpi_of_one.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// Freed when it is not needed any more.
class OwnType {
 public:
  template <typename Make>
  explicit OwnType(Make make) {
    need_mpi();
    make(&datatype_);
  }
  OwnType(OwnType&& other) noexcept
      : datatype_(std::exchange(other.datatype_, MPI_DATATYPE_NULL)) {}
  ~OwnType() {
    if (datatype_ != MPI_DATATYPE_NULL) PMPI_Type_free(&datatype_);
  }
  OwnType(const OwnType&) = delete;
  OwnType& operator=(const OwnType&) = delete;
  OwnType& operator=(OwnType&&) = delete;
  operator MPI_Datatype() const { return datatype_; }

 private:
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
};

using ListOfBlocks = std::vector<TypeBlock>;
using Integers = std::vector<int>;
using Addresses = std::vector<MPI_Aint>;

bool lies_at(MPI_Datatype datatype, const ListOfBlocks& expected) {
  need_mpi();
  const auto blocks = blocks_of(datatype);
  if (!blocks) return false;
  for (const TypeBlock& found : *blocks)
    if (*blocks != expected) MESSAGE("at " << found.at << ": " << found.bytes << " bytes");
  return *blocks == expected;
}

OwnType row_of(int count, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_contiguous(count, part, made); });
}

OwnType vector_type(int count, int length, int stride, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_vector(count, length, stride, part, made); });
}

OwnType hvector_type(int count, int length, MPI_Aint stride_bytes, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_hvector(count, length, stride_bytes, part, made);
  });
}

OwnType indexed_type(const Integers& lengths, const Integers& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), part, made);
  });
}

OwnType hindexed_type(const Integers& lengths, const Addresses& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), part,
                              made);
  });
}

OwnType indexed_block_type(int length, const Integers& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_indexed_block(static_cast<int>(places.size()), length, places.data(), part,
                                   made);
  });
}

OwnType hindexed_block_type(int length, const Addresses& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_hindexed_block(static_cast<int>(places.size()), length, places.data(), part,
                                    made);
  });
}

OwnType struct_type(const Integers& lengths, const Addresses& places,
                    const std::vector<MPI_Datatype>& parts) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                            parts.data(), made);
  });
}

OwnType resized_type(MPI_Aint lb, MPI_Aint extent, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_create_resized(part, lb, extent, made); });
}

OwnType copy_type(MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_dup(part, made); });
}

struct ArrayPart {
  Integers sizes;
  Integers taken;
  Integers starts;
};

OwnType subarray_type(const ArrayPart& array, int order, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_subarray(static_cast<int>(array.sizes.size()), array.sizes.data(),
                              array.taken.data(), array.starts.data(), order, part, made);
  });
}

struct Dealt {
  Integers sizes;
  Integers distributions;
  Integers arguments;
  Integers processes;

  int all_processes() const {
    int all = 1;
    for (const int some : processes) all *= some;
    return all;
  }
};

OwnType darray_type(const Dealt& array, int rank, int order, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_darray(array.all_processes(), rank, static_cast<int>(array.sizes.size()),
                            array.sizes.data(), array.distributions.data(), array.arguments.data(),
                            array.processes.data(), order, part, made);
  });
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

// Datatypes of datatypes at random, small enough to be looked at byte by byte.
class RandomType {
 public:
  explicit RandomType(std::uint64_t seed) : random_(seed) {}

  static constexpr MPI_Aint reach = 2000;  // bytes, in either direction

  OwnType next() { return derived(random_.below(4)); }

 private:
  int number(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  Integers numbers(std::size_t count, int least, int most) {
    Integers all(count);
    for (int& one : all) one = number(least, most);
    return all;
  }
  Addresses places(std::size_t count) {
    const Integers all = numbers(count, -60, 60);
    return {all.begin(), all.end()};
  }
  std::size_t few() { return random_.below(4); }

  OwnType part(std::uint64_t depth) {
    // Of a long double Open MPI need not pack what is padding.
    const std::array predefined{MPI_CHAR,      MPI_SHORT,      MPI_INT,  MPI_DOUBLE,
                                MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_2INT, MPI_FLOAT_INT};
    if (depth == 0) return copy_type(predefined[random_.below(predefined.size())]);
    return derived(depth - 1);
  }
  OwnType derived(std::uint64_t depth) {
    for (;;) {
      OwnType made = of(part(depth), depth);
      if (is_small(made) && (size_of(made) > 0 || random_.chance(1, 8))) return made;
    }
  }
  static int size_of(MPI_Datatype datatype) {
    int size = 0;
    PMPI_Type_size(datatype, &size);
    return size;
  }
  static bool is_small(MPI_Datatype datatype) {
    const int size = size_of(datatype);
    MPI_Aint lb = 0;
    MPI_Aint extent = 0;
    MPI_Aint first = 0;
    MPI_Aint bytes = 0;
    PMPI_Type_get_extent(datatype, &lb, &extent);
    PMPI_Type_get_true_extent(datatype, &first, &bytes);
    return size <= reach && std::abs(lb) <= reach && std::abs(lb + extent) <= reach &&
           (size == 0 || (std::abs(first) <= reach && std::abs(first + bytes) <= reach));
  }
  // What is drawn in braces is drawn from left to right by every compiler.
  OwnType of(const OwnType& one, std::uint64_t depth) {
    const Integers some{number(0, 4), number(0, 3), number(-5, 5)};
    const Addresses far{number(-20, 20), number(-10, 60), number(-50, 50)};
    switch (random_.below(13)) {
      case 0:
        return copy_type(one);
      case 1:
        return resized_type(far[0], far[1], one);
      case 2:
        return row_of(some[0], one);
      case 3:
        if (is_misread(some[2] * extent_of(one))) return copy_type(one);
        return vector_type(some[0], some[1], some[2], one);
      case 4:
        if (is_misread(far[2])) return copy_type(one);
        return hvector_type(some[0], some[1], far[2], one);
      case 5:
        return indexed(one);
      case 6:
        return hindexed(one);
      case 7:
        return indexed_block_type(some[1], numbers(few(), -5, 5), one);
      case 8:
        return hindexed_block_type(some[1], places(few()), one);
      case 9:
        return record(one, depth);
      case 10:
        return subarray(one);
      default:
        return darray(one);
    }
  }
  static MPI_Aint extent_of(MPI_Datatype one) {
    MPI_Aint lb = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(one, &lb, &extent);
    return extent;
  }
  // A step of -1 byte from block to block is one of their length to Open MPI 5.
  static bool is_misread(MPI_Aint stride_bytes) { return stride_bytes == -1; }
  OwnType indexed(MPI_Datatype one) {
    const std::size_t count = few();
    const Integers lengths = numbers(count, 0, 3);
    return indexed_type(lengths, numbers(count, -5, 5), one);
  }
  OwnType hindexed(MPI_Datatype one) {
    const std::size_t count = few();
    const Integers lengths = numbers(count, 0, 3);
    return hindexed_type(lengths, places(count), one);
  }
  OwnType record(MPI_Datatype one, std::uint64_t depth) {
    const OwnType other = part(depth);
    const Integers lengths = numbers(3, 0, 2);
    return struct_type(lengths, places(3), {one, other, one});
  }
  int order() { return random_.chance(1, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  OwnType subarray(MPI_Datatype one) {
    ArrayPart array;
    for (std::size_t left = 1 + random_.below(3); left > 0; --left) {
      array.sizes.push_back(number(1, 5));
      array.taken.push_back(number(1, array.sizes.back()));
      array.starts.push_back(number(0, array.sizes.back() - array.taken.back()));
    }
    return subarray_type(array, order(), one);
  }
  // Open MPI 5 makes none of what has no bytes.
  OwnType darray(MPI_Datatype one) {
    if (size_of(one) == 0) return copy_type(one);
    Dealt array;
    for (std::size_t left = 1 + random_.below(3); left > 0; --left) {
      const int size = number(1, 7);
      const int distribution = std::array{block, cyclic, none}[random_.below(3)];
      const int processes = distribution == none ? 1 : number(1, 3);
      const int least = distribution == block ? (size + processes - 1) / processes : 1;
      const bool is_default = distribution == none || random_.chance(1, 2);
      array.sizes.push_back(size);
      array.distributions.push_back(distribution);
      array.arguments.push_back(is_default ? by_default : number(least, least + 3));
      array.processes.push_back(processes);
    }
    const int rank = number(0, array.all_processes() - 1);
    return darray_type(array, rank, order(), one);
  }

  Random random_;
};

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
  INFO("TYPE_BLOCKS_SEED=" << seed << " shim_test -tc='blocks are where MPI packs*'");
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
