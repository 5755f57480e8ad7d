#include "mpi/handles/datatypes/type_order.hpp"

#include <array>

#include "doctest/doctest.h"
#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

constexpr int side = 3;

// Freed at the end; `made`: by a function of MPI's that writes it.
class Made {
 public:
  template <typename Make>
  explicit Made(Make make) {
    need_mpi();
    make(&datatype_);
  }
  ~Made() { PMPI_Type_free(&datatype_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  operator MPI_Datatype() const { return datatype_; }

 private:
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
};

Made vector_of(int count, int length, int stride, MPI_Datatype part) {
  return Made([&](MPI_Datatype* made) { PMPI_Type_vector(count, length, stride, part, made); });
}

template <std::size_t n>
Made indexed_block(const std::array<int, n>& places, MPI_Datatype part) {
  return Made([&](MPI_Datatype* made) {
    PMPI_Type_create_indexed_block(static_cast<int>(n), 1, places.data(), part, made);
  });
}

Made transposed(MPI_Datatype column) {
  return Made(
      [&](MPI_Datatype* made) { PMPI_Type_create_hvector(side, 1, sizeof(double), column, made); });
}

}  // namespace

TEST_CASE("a transposed matrix is not in order, though it has no gaps") {
  const Made column = vector_of(side, 1, side, MPI_DOUBLE);
  const Made matrix = transposed(column);
  const Made copy([&](MPI_Datatype* made) { PMPI_Type_dup(matrix, made); });
  CHECK(is_in_order(column));
  CHECK_FALSE(is_in_order(matrix));
  CHECK_FALSE(is_in_order(copy));
  CHECK_FALSE(layout_of(matrix, 2).is_dense);
}

TEST_CASE("blocks are in order where each begins behind the one before") {
  const Made forth = indexed_block(std::array{0, 1, 2}, MPI_INT);
  const Made back = indexed_block(std::array{1, 0, 2}, MPI_INT);
  const Made twice = indexed_block(std::array{0, 0, 2}, MPI_INT);
  CHECK(layout_of(forth, 5).is_dense);
  CHECK_FALSE(is_in_order(back));
  CHECK_FALSE(is_in_order(twice));
  const Made backwards = vector_of(2, 1, -1, MPI_INT);
  CHECK_FALSE(is_in_order(backwards));
}

TEST_CASE("blocks of no elements are nowhere") {
  const std::array lengths{1, 0, 1};
  const std::array places{0, -7, 1};
  const Made indexed([&](MPI_Datatype* made) {
    PMPI_Type_indexed(3, lengths.data(), places.data(), MPI_INT, made);
  });
  CHECK(layout_of(indexed, 1).is_dense);
}

TEST_CASE("a record is in order if its fields are") {
  const std::array lengths{2, 1};
  const std::array<MPI_Aint, 2> forth{0, 8};
  const std::array<MPI_Aint, 2> back{8, 0};
  const std::array parts{MPI_INT, MPI_DOUBLE};
  const auto record = [&](const std::array<MPI_Aint, 2>& places) {
    return Made([&](MPI_Datatype* made) {
      PMPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), made);
    });
  };
  const Made ascending = record(forth);
  const Made descending = record(back);
  CHECK(layout_of(ascending, 3).is_dense);
  CHECK_FALSE(is_in_order(descending));
}

TEST_CASE("a part of an array is in order if its elements are") {
  const std::array sizes{2, 3};
  const std::array starts{0, 0};
  const auto whole = [&](MPI_Datatype part) {
    return Made([&, part](MPI_Datatype* made) {
      PMPI_Type_create_subarray(2, sizes.data(), sizes.data(), starts.data(), MPI_ORDER_FORTRAN,
                                part, made);
    });
  };
  const Made back = indexed_block(std::array{1, 0}, MPI_INT);
  const Made of_ints = whole(MPI_INT);
  const Made of_others = whole(back);
  CHECK(layout_of(of_ints, 1).is_dense);
  CHECK_FALSE(is_in_order(of_others));
}
