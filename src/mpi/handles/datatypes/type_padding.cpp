#include "mpi/handles/datatypes/type_padding.hpp"

#include <limits>
#include <utility>

#include "mpi/handles/datatypes/type_recipe.hpp"
#include "mpi/handles/datatypes/type_size.hpp"

namespace resprout::shim {
namespace {

// x87's: 64 bits of mantissa and 16 of sign and exponent, padded.
constexpr bool has_padded_long_double = std::numeric_limits<long double>::digits == 64;
constexpr std::size_t held = 10;
constexpr std::size_t padding = has_padded_long_double ? sizeof(long double) - held : 0;

// Made by MPI_Type_create_f90_real or _complex. MPI gives a long double for what needs one.
bool is_long_double_of_fortran(MPI_Datatype datatype, int combiner) {
  const std::size_t size = size_of_type(datatype);
  return (combiner == MPI_COMBINER_F90_REAL && size == sizeof(long double)) ||
         (combiner == MPI_COMBINER_F90_COMPLEX && size == 2 * sizeof(long double));
}

}  // namespace

// A part that comes several times needs to be told once.
Padding Padding::of(MPI_Datatype datatype) {
  if constexpr (!has_padded_long_double) return {};
  const std::vector<Run> alone{{held, true}, {padding, false}};
  if (datatype == MPI_LONG_DOUBLE || datatype == MPI_C_LONG_DOUBLE_COMPLEX ||
      datatype == MPI_CXX_LONG_DOUBLE_COMPLEX)
    return Padding(alone);
  if (datatype == MPI_LONG_DOUBLE_INT)
    return Padding({{held, true}, {padding, false}, {sizeof(int), true}});
  const TypeRecipe made(datatype);
  if (made.combiner() == MPI_COMBINER_STRUCT) return of_struct(made);
  if (!made.is_predefined()) return of(made.part(0));
  return is_long_double_of_fortran(datatype, made.combiner()) ? Padding(alone) : Padding();
}

Padding Padding::of_struct(const TypeRecipe& made) {
  std::vector<Run> runs;
  bool has_padding = false;
  const auto add = [&](const Run& run) {
    if (!runs.empty() && runs.back().counts == run.counts)
      runs.back().bytes += run.bytes;
    else
      runs.push_back(run);
  };
  const auto count = static_cast<std::size_t>(made.integer(0));
  for (std::size_t i = 0; i < count; ++i) {
    const Padding part = of(made.part(i));
    std::size_t left = size_of_type(made.part(i)) * static_cast<std::size_t>(made.integer(1 + i));
    has_padding = has_padding || (part.has_any() && left > 0);
    if (!part.has_any() && left > 0) add({left, true});
    for (std::size_t next = 0; part.has_any() && left > 0; ++next) {
      const Run& run = part.runs_[next % part.runs_.size()];
      add(run);
      left -= run.bytes;
    }
  }
  return has_padding ? Padding(std::move(runs)) : Padding();
}

}  // namespace resprout::shim
