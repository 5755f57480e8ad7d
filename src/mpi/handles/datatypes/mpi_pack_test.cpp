#include "mpi/handles/datatypes/mpi_pack.hpp"

#include <array>
#include <numeric>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/policies/call_data.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

// The first and the third of four ints; or so many blocks of 1 GiB.
MPI_Datatype two_of_four_ints() {
  need_mpi();
  const int places[] = {0, 2};
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_create_indexed_block(2, 1, places, MPI_INT, &two);
  PMPI_Type_create_resized(two, 0, 4 * sizeof(int), &made);
  PMPI_Type_commit(&made);
  PMPI_Type_free(&two);
  return made;
}

MPI_Datatype blocks_of_gib(int count) {
  need_mpi();
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(static_cast<int>(gib), MPI_BYTE, &one);
  PMPI_Type_contiguous(count, one, &made);
  PMPI_Type_commit(&made);
  PMPI_Type_free(&one);
  return made;
}

}  // namespace

// 8 bytes an element: all at once, some, one, and elements of which not even one fits.
TEST_CASE("elements are packed and unpacked alike however few bytes MPI packs at once") {
  MPI_Datatype type = two_of_four_ints();
  constexpr int count = 7;
  std::array<int, 4 * count> memory{};
  std::iota(memory.begin(), memory.end(), 1);
  std::array<int, 2 * count> right{};
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = memory[2 * i];
  for (const std::size_t at_once :
       {packed_at_once_max, std::size_t{20}, std::size_t{8}, std::size_t{7}}) {
    CAPTURE(at_once);
    std::array<int, 2 * count> bytes{};
    pack_by_mpi(memory.data(), count, type, std::as_writable_bytes(std::span(bytes)), at_once);
    CHECK(bytes == right);
    std::array<int, 4 * count> copy{};
    unpack_by_mpi(std::as_bytes(std::span(bytes)), copy.data(), count, type, at_once);
    for (std::size_t i = 0; i < copy.size(); ++i) CHECK(copy[i] == (i % 2 == 0 ? memory[i] : 0));
    // Of less than that there is to unpack, what is there.
    std::array<int, 4 * count> part{};
    unpack_by_mpi(std::as_bytes(std::span(bytes)).first(24), part.data(), count, type, at_once);
    CHECK(part[8] == memory[8]);
    CHECK(part[12] == 0);
  }
  PMPI_Type_free(&type);
}

TEST_CASE("elements are combined alike however few MPI combines at once") {
  need_mpi();
  const Layout layout = layout_of(MPI_INT, 5);
  const std::array<int, 5> lower{1, 2, 3, 4, 5};
  for (const std::int64_t at_once : {1, 2, 5, 9}) {
    CAPTURE(at_once);
    std::array<int, 5> upper{10, 20, 30, 40, 50};
    MpiCombiner(MPI_SUM, layout, at_once)
        .combine(std::as_bytes(std::span(lower)), std::as_writable_bytes(std::span(upper)));
    CHECK(upper == std::array<int, 5>{11, 22, 33, 44, 55});
  }
}

TEST_CASE("an element may have more bytes than an int counts, and so may there be elements") {
  MPI_Datatype three_gib = blocks_of_gib(3);
  CHECK(facts_of(three_gib).size == 3 * gib);
  CHECK(facts_of(three_gib).is_dense);
  CHECK(layout_of(three_gib, 5).packed_bytes == 15 * gib);
  const std::int64_t many = std::int64_t{1} << 33;
  CHECK(layout_of(MPI_DOUBLE, many).spread_bytes == 64 * gib);
  PMPI_Type_free(&three_gib);
}

TEST_CASE("all ranks' shares of a sum may be more elements than an int counts") {
  need_mpi();
  CallData block(3, 4);
  const std::byte memory{};
  call_data_of::reduce_scatter_block(&memory, &memory, 1 << 30, MPI_INT, MPI_SUM)(block);
  CHECK(block.pattern.first == std::int64_t{3} << 30);
  CHECK(block.given()[0].layout.packed_bytes == 16 * gib);
  const std::vector<int> counts(4, 1 << 30);
  CallData each(3, 4);
  call_data_of::reduce_scatter(&memory, &memory, counts.data(), MPI_INT, MPI_SUM)(each);
  CHECK(each.pattern.first == std::int64_t{3} << 30);
  CHECK(each.given()[0].layout.packed_bytes == 16 * gib);
}

TEST_CASE("blocks of all ranks are where their displacements say, beyond 2 GiB too") {
  MPI_Datatype one_gib = blocks_of_gib(1);
  const int counts[] = {1, 1, 2};
  const int displacements[] = {0, 5, 7};
  const Pieces pieces(nullptr, counts, displacements, one_gib);
  CHECK(pieces.of(2).buffer - static_cast<char*>(nullptr) == static_cast<std::ptrdiff_t>(7 * gib));
  CHECK(pieces.of(2).layout.packed_bytes == 2 * gib);
  CHECK(Pieces(nullptr, 2, one_gib).of(3).buffer - static_cast<char*>(nullptr) ==
        static_cast<std::ptrdiff_t>(6 * gib));
  PMPI_Type_free(&one_gib);
}
