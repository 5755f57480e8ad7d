#include "shim/stand_ins/numbers.hpp"

#include <complex>
#include <cstdint>
#include <cstring>

namespace resprout::shim {
namespace {

template <typename T>
void fill(long double number, void* buffer, int count) {
  auto* const elements = static_cast<unsigned char*>(buffer);
  const T element = static_cast<T>(number);
  for (int i = 0; i < count; ++i)
    std::memcpy(elements + static_cast<std::size_t>(i) * sizeof element, &element, sizeof element);
}

template <typename F>
void fill_complex(long double number, void* buffer, int count) {
  auto* const elements = static_cast<F*>(buffer);
  for (int i = 0; i < count; ++i) {
    elements[2 * i] = static_cast<F>(number);
    elements[2 * i + 1] = 0;
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

Fill find_fill(MPI_Datatype datatype) {
  const MPI_Datatype with_sign[] = {
      MPI_SIGNED_CHAR, MPI_CHAR,    MPI_SHORT,    MPI_INT,      MPI_LONG,     MPI_LONG_LONG,
      MPI_INT8_T,      MPI_INT16_T, MPI_INT32_T,  MPI_INT64_T,  MPI_AINT,     MPI_OFFSET,
      MPI_COUNT,       MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8};
  const MPI_Datatype without_sign[] = {
      MPI_UNSIGNED_CHAR,      MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
      MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,        MPI_UINT16_T, MPI_UINT32_T,
      MPI_UINT64_T,           MPI_C_BOOL,         MPI_BYTE};
  const MPI_Datatype real[] = {MPI_FLOAT, MPI_REAL, MPI_REAL4};
  const MPI_Datatype twice[] = {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8};
  int size = 0;
  if (PMPI_Type_size(datatype, &size) != MPI_SUCCESS) return nullptr;
  const auto bytes = static_cast<std::size_t>(size);
  if (is_one_of(datatype, with_sign)) return whole(bytes, true);
  if (is_one_of(datatype, without_sign)) return whole(bytes, false);
  if (is_one_of(datatype, real)) return fill<float>;
  if (is_one_of(datatype, twice)) return fill<double>;
  if (datatype == MPI_LONG_DOUBLE) return fill<long double>;
  if (datatype == MPI_C_FLOAT_COMPLEX || datatype == MPI_COMPLEX) return fill_complex<float>;
  if (datatype == MPI_C_DOUBLE_COMPLEX || datatype == MPI_DOUBLE_COMPLEX)
    return fill_complex<double>;
  return nullptr;
}

}  // namespace

bool fill_with(long double number, void* buffer, int count, MPI_Datatype datatype) {
  const Fill fill = find_fill(datatype);
  if (fill != nullptr) fill(number, buffer, count);
  return fill != nullptr;
}

}  // namespace resprout::shim
