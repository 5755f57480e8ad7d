#include "mpi/handles/operators/reproducible.hpp"

#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#  include <mpi-ext.h>
#endif

using namespace resprout::shim;

namespace {

// What contributions of two numbers each come to.
template <typename T>
std::array<T, 2> sum_of(const std::vector<std::array<T, 2>>& contributions, MPI_Datatype datatype) {
  need_mpi();
  const std::optional<SumForm> form = sum_form(MPI_SUM, datatype, 2);
  REQUIRE(form);
  std::vector<std::byte> sum(form->sum_bytes());
  bool is_first = true;
  for (const auto& contribution : contributions) {
    auto next = sums_of(contribution.data(), *form);
    if (!is_first) SumCombiner().combine(sum, next);
    sum = std::move(next);
    is_first = false;
  }
  std::array<T, 2> result{};
  write_numbers(sum, result.data(), *form);
  return result;
}

}  // namespace

TEST_CASE("numbers that cancel leave what is small, in any order") {
  const std::array<double, 2> large{1e20, -1e20};
  const std::array<double, 2> opposite{-1e20, 1e20};
  const std::array<double, 2> small{1, 2};
  CHECK(sum_of<double>({large, small, opposite}, MPI_DOUBLE) == small);
  CHECK(sum_of<double>({small, opposite, large}, MPI_DOUBLE) == small);
}

TEST_CASE("the parts of complex numbers are added by themselves") {
  using Complex = std::complex<float>;
  const std::array<Complex, 2> first{Complex(1e10F, 1), Complex(2, -1e10F)};
  const std::array<Complex, 2> second{Complex(1, 1), Complex(1, 1)};
  const std::array<Complex, 2> third{Complex(-1e10F, 1), Complex(0, 1e10F)};
  CHECK(sum_of<Complex>({first, second, third}, MPI_C_FLOAT_COMPLEX) ==
        std::array<Complex, 2>{Complex(1, 3), Complex(3, 1)});
}

TEST_CASE("long double is what Fortran gets for so many digits") {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  need_mpi();
  PMPI_Type_create_f90_real(18, 4000, &real);
  const std::array<long double, 2> large{1e25L, 1e4000L};
  const std::array<long double, 2> opposite{-1e25L, -1e4000L};
  const std::array<long double, 2> small{1e10L, 0};
  CHECK(sum_of<long double>({large, small, opposite}, real) == small);
}

#if defined(MPIX_C_FLOAT16) && defined(__FLT16_MAX__)
TEST_CASE("short numbers are rounded once, and may be too large meanwhile") {
  const auto pair = [](float first, float second) {
    return std::array<Half, 2>{static_cast<Half>(first), static_cast<Half>(second)};
  };
  const auto sum =
      sum_of<Half>({pair(60000, 2048), pair(60000, 1), pair(-60000, 1)}, MPIX_C_FLOAT16);
  CHECK(static_cast<float>(sum[0]) == static_cast<float>(static_cast<Half>(60000.0F)));
  CHECK(static_cast<float>(sum[1]) == 2050);
}
#endif

TEST_CASE("what needs no help has no form") {
  need_mpi();
  CHECK_FALSE(sum_form(MPI_SUM, MPI_INT, 1));
  CHECK_FALSE(sum_form(MPI_MAX, MPI_DOUBLE, 1));
  CHECK_FALSE(sum_form(MPI_PROD, MPI_DOUBLE, 1));
}
