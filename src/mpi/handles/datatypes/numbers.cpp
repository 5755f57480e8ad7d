#include "mpi/handles/datatypes/numbers.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "mpi/handles/datatypes/floats.hpp"
#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_recipe.hpp"

namespace resprout::shim {
namespace {

// What Fortran's real numbers of 16 bytes are.
#ifdef __SIZEOF_FLOAT128__
#  define RESPROUT_QUAD
__extension__ typedef __float128 Quad;
#elif __LDBL_MANT_DIG__ == 113
#  define RESPROUT_QUAD
using Quad = long double;
#endif

template <typename T>
T converted(long double number) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return std::trunc(number) != 0;
  } else if constexpr (Limits::is_integer) {
    constexpr auto least = std::numeric_limits<std::make_signed_t<T>>::min();
    if (number >= std::ldexp(1.0L, Limits::digits)) return Limits::max();
    if (number <= static_cast<long double>(least)) return static_cast<T>(least);
    if (number < 0) return static_cast<T>(static_cast<std::int64_t>(number));
  }
  return static_cast<T>(number);
}

template <typename T>
void fill_elements(const T& element, void* buffer, int count) {
  auto* const elements = static_cast<unsigned char*>(buffer);
  for (int i = 0; i < count; ++i)
    std::memcpy(elements + static_cast<std::size_t>(i) * sizeof element, &element, sizeof element);
}

template <typename T>
void fill(long double number, void* buffer, int count) {
  fill_elements(converted<T>(number), buffer, count);
}

template <typename T>
void fill_truth(long double number, void* buffer, int count) {
  fill_elements(static_cast<T>(converted<bool>(number)), buffer, count);
}

void fill_floats(const FloatForm& form, long double number, void* buffer, int count) {
  with_type(form.kind, [&]<typename F>(F) {
    auto* const numbers = static_cast<F*>(buffer);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      numbers[form.parts * i] = static_cast<F>(number);
      if (form.parts == 2) numbers[2 * i + 1] = 0;
    }
  });
}

using Terms = std::span<const WeightedNumbers>;

template <typename T>
long double sum_at(Terms terms, std::size_t place) {
  long double sum = 0;
  for (const WeightedNumbers& term : terms) {
    T element;
    std::memcpy(&element, static_cast<const unsigned char*>(term.elements) + place * sizeof element,
                sizeof element);
    sum += term.weight * static_cast<long double>(element);
  }
  return sum;
}

template <typename T>
void fill_sums(Terms terms, void* buffer, int count) {
  auto* const elements = static_cast<unsigned char*>(buffer);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const T element = converted<T>(std::round(sum_at<T>(terms, i)));
    std::memcpy(elements + i * sizeof element, &element, sizeof element);
  }
}

using FillSums = void (*)(Terms, void*, int);

FillSums whole_sums(std::size_t bytes, bool has_sign) {
  switch (bytes) {
    case 1:
      return has_sign ? fill_sums<std::int8_t> : fill_sums<std::uint8_t>;
    case 2:
      return has_sign ? fill_sums<std::int16_t> : fill_sums<std::uint16_t>;
    case 4:
      return has_sign ? fill_sums<std::int32_t> : fill_sums<std::uint32_t>;
    case 8:
      return has_sign ? fill_sums<std::int64_t> : fill_sums<std::uint64_t>;
    default:
      return nullptr;
  }
}

using Fill = void (*)(long double, void*, int);

// Whole numbers of any name: what counts is their size and whether they have a sign.
Fill whole(std::size_t bytes, bool has_sign) {
  switch (bytes) {
    case 1:
      return has_sign ? fill<std::int8_t> : fill<std::uint8_t>;
    case 2:
      return has_sign ? fill<std::int16_t> : fill<std::uint16_t>;
    case 4:
      return has_sign ? fill<std::int32_t> : fill<std::uint32_t>;
    case 8:
      return has_sign ? fill<std::int64_t> : fill<std::uint64_t>;
    default:
      return nullptr;
  }
}

template <std::size_t n>
bool is_one_of(MPI_Datatype datatype, const MPI_Datatype (&list)[n]) {
  for (const MPI_Datatype one : list)
    if (one == datatype) return true;
  return false;
}

// Fortran's .true. is 1, or a number whose last bit is.
Fill truth_value(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return fill_truth<std::uint8_t>;
    case 2:
      return fill_truth<std::uint16_t>;
    case 4:
      return fill_truth<std::uint32_t>;
    case 8:
      return fill_truth<std::uint64_t>;
    default:
      return nullptr;
  }
}

bool has_sign(MPI_Datatype datatype) {
  const MPI_Datatype list[] = {
      MPI_SIGNED_CHAR, MPI_CHAR,    MPI_SHORT,    MPI_INT,      MPI_LONG,     MPI_LONG_LONG,
      MPI_INT8_T,      MPI_INT16_T, MPI_INT32_T,  MPI_INT64_T,  MPI_AINT,     MPI_OFFSET,
      MPI_COUNT,       MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8};
  return is_one_of(datatype, list) || combiner_of(datatype) == MPI_COMBINER_F90_INTEGER;
}

bool is_without_sign(MPI_Datatype datatype) {
  const MPI_Datatype list[] = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,     MPI_UNSIGNED,
                               MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
                               MPI_UINT16_T,      MPI_UINT32_T,           MPI_UINT64_T,
                               MPI_BYTE};
  return is_one_of(datatype, list);
}

Fill find_fill(MPI_Datatype datatype) {
  const MPI_Datatype truth[] = {MPI_C_BOOL,   MPI_CXX_BOOL,
#ifdef MPI_LOGICAL1
                                MPI_LOGICAL1,
#endif
#ifdef MPI_LOGICAL2
                                MPI_LOGICAL2,
#endif
#ifdef MPI_LOGICAL4
                                MPI_LOGICAL4,
#endif
#ifdef MPI_LOGICAL8
                                MPI_LOGICAL8,
#endif
                                MPI_LOGICAL};
  int size = 0;
  if (PMPI_Type_size(datatype, &size) != MPI_SUCCESS) return nullptr;
  const auto bytes = static_cast<std::size_t>(size);
  if (has_sign(datatype)) return whole(bytes, true);
  if (is_without_sign(datatype)) return whole(bytes, false);
  if (is_one_of(datatype, truth)) return truth_value(bytes);
#if defined(MPI_REAL16) && defined(RESPROUT_QUAD)
  if (datatype == MPI_REAL16 && bytes == sizeof(Quad)) return fill<Quad>;
#endif
  return nullptr;
}

FillSums find_fill_sums(MPI_Datatype datatype) {
  int size = 0;
  if (PMPI_Type_size(datatype, &size) != MPI_SUCCESS) return nullptr;
  const bool is_signed = has_sign(datatype);
  if (!is_signed && !is_without_sign(datatype)) return nullptr;
  return whole_sums(static_cast<std::size_t>(size), is_signed);
}

}  // namespace

bool fill_with(long double number, void* buffer, int count, MPI_Datatype datatype) {
  if (const auto form = float_form(datatype)) {
    fill_floats(*form, number, buffer, count);
    return true;
  }
  const Fill fill = find_fill(datatype);
  if (fill != nullptr) fill(number, buffer, count);
  return fill != nullptr;
}

bool fill_with_sums(Terms terms, void* buffer, int count, MPI_Datatype datatype) {
  if (const auto form = float_form(datatype)) {
    with_type(form->kind, [&]<typename F>(F) {
      auto* const numbers = static_cast<F*>(buffer);
      for (std::size_t i = 0; i < form->parts * static_cast<std::size_t>(count); ++i)
        numbers[i] = static_cast<F>(sum_at<F>(terms, i));
    });
    return true;
  }
  const FillSums fill = find_fill_sums(datatype);
  if (fill != nullptr) fill(terms, buffer, count);
  return fill != nullptr;
}

}  // namespace resprout::shim
