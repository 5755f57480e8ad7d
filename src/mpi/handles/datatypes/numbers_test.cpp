#include "mpi/handles/datatypes/numbers.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <limits>

#include "doctest/doctest.h"
#include "mpi/handles/datatypes/floats.hpp"
#include "mpi/testing/mpi_of_one.hpp"
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#  include <mpi-ext.h>
#endif

using namespace resprout::shim;

namespace {

template <typename T>
T filled(long double number, MPI_Datatype datatype) {
  std::array<T, 3> elements{};
  REQUIRE(fill_with(number, elements.data(), 2, datatype));
  CHECK(elements[0] == elements[1]);
  CHECK(elements[2] == T{});
  return elements[0];
}

template <typename T>
using Limits = std::numeric_limits<T>;

}  // namespace

TEST_CASE("numbers without fractions are rounded towards zero") {
  need_mpi();
  CHECK(filled<int>(7.9L, MPI_INT) == 7);
  CHECK(filled<int>(-7.9L, MPI_INT) == -7);
  CHECK(filled<std::uint64_t>(-0.5L, MPI_UINT64_T) == 0);
  CHECK(filled<std::uint64_t>(18446744073709551615.0L, MPI_UINT64_T) ==
        Limits<std::uint64_t>::max());
}

TEST_CASE("a number that a type is too narrow for becomes the nearest that it has") {
  need_mpi();
  CHECK(filled<std::int8_t>(300, MPI_INT8_T) == 127);
  CHECK(filled<std::int8_t>(-300, MPI_INT8_T) == -128);
  CHECK(filled<std::uint8_t>(300, MPI_BYTE) == 255);
  CHECK(filled<int>(1e30L, MPI_INT) == Limits<int>::max());
  CHECK(filled<std::int64_t>(1e30L, MPI_INT64_T) == Limits<std::int64_t>::max());
  CHECK(filled<std::int64_t>(-1e30L, MPI_INT64_T) == Limits<std::int64_t>::min());
  CHECK(filled<std::uint64_t>(1e30L, MPI_UINT64_T) == Limits<std::uint64_t>::max());
  CHECK(filled<float>(1e300L, MPI_FLOAT) == Limits<float>::infinity());
}

TEST_CASE("-1 is all bits, also without a sign") {
  need_mpi();
  CHECK(filled<unsigned>(-1, MPI_UNSIGNED) == ~0U);
  CHECK(filled<std::uint64_t>(-1, MPI_UINT64_T) == ~std::uint64_t{0});
}

TEST_CASE("what is no zero is true") {
  need_mpi();
  CHECK(filled<unsigned char>(7, MPI_C_BOOL) == 1);
  CHECK(filled<unsigned char>(256, MPI_C_BOOL) == 1);
  CHECK(filled<unsigned char>(0, MPI_CXX_BOOL) == 0);
}

TEST_CASE("complex numbers of any length and language have a real part") {
  need_mpi();
  using Extended = std::complex<long double>;
  for (const MPI_Datatype datatype : {MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX})
    CHECK(filled<std::complex<float>>(1.5L, datatype) == std::complex<float>(1.5F));
  for (const MPI_Datatype datatype : {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX})
    CHECK(filled<std::complex<double>>(1.5L, datatype) == std::complex<double>(1.5));
  for (const MPI_Datatype datatype : {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX})
    CHECK(filled<Extended>(1.5L, datatype) == Extended(1.5L));
}

TEST_CASE("numbers that Fortran asks for by their precision are numbers") {
  need_mpi();
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Datatype complex = MPI_DATATYPE_NULL;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  PMPI_Type_create_f90_real(15, 307, &real);
  PMPI_Type_create_f90_complex(6, 30, &complex);
  PMPI_Type_create_f90_integer(9, &whole);
  CHECK(filled<double>(1.5L, real) == 1.5);
  CHECK(filled<std::complex<float>>(1.5L, complex) == std::complex<float>(1.5F));
  CHECK(filled<std::int32_t>(1.5L, whole) == 1);
}

TEST_CASE("what is no zero is Fortran's .true.") {
  need_mpi();
  CHECK(filled<std::int32_t>(7, MPI_LOGICAL) == 1);
  CHECK(filled<std::int32_t>(-1, MPI_LOGICAL) == 1);
  CHECK(filled<std::int32_t>(0.5L, MPI_LOGICAL) == 0);
#ifdef MPI_LOGICAL1
  CHECK(filled<std::int8_t>(256, MPI_LOGICAL1) == 1);
#endif
#ifdef MPI_LOGICAL8
  CHECK(filled<std::int64_t>(2, MPI_LOGICAL8) == 1);
#endif
}

#if defined(MPI_REAL16) && defined(__SIZEOF_FLOAT128__)
TEST_CASE("long real numbers of Fortran are what the MPI adds") {
  need_mpi();
  __extension__ typedef __float128 Quad;
  const Quad addend = filled<Quad>(1.5L, MPI_REAL16);
  Quad sum = filled<Quad>(-0.25L, MPI_REAL16);
  PMPI_Reduce_local(&addend, &sum, 1, MPI_REAL16, MPI_SUM);
  CHECK(static_cast<double>(sum) == 1.25);
}
#endif

#if defined(MPIX_C_FLOAT16) && defined(__FLT16_MAX__)
TEST_CASE("short numbers are the nearest that there are") {
  need_mpi();
  CHECK(static_cast<float>(filled<Half>(1.0001L, MPIX_C_FLOAT16)) == 1.0F);
  CHECK(static_cast<float>(filled<Half>(1e6L, MPIX_C_FLOAT16)) == Limits<float>::infinity());
}
#endif

TEST_CASE("what is no number is left alone") {
  need_mpi();
  std::array<double, 4> elements{};
  CHECK(!fill_with(1, elements.data(), 1, MPI_DOUBLE_INT));
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  PMPI_Type_dup(MPI_DOUBLE, &copy);
  CHECK(!fill_with(1, elements.data(), 1, copy));
  PMPI_Type_free(&copy);
  CHECK(elements[0] == 0);
}
