#include "mpi/handles/datatypes/floats.hpp"

#include <array>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_recipe.hpp"
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#  include <mpi-ext.h>
#endif

namespace resprout::shim {
namespace {

std::size_t bytes_of(const FloatForm& form) {
  std::size_t bytes = 0;
  with_type(form.kind, [&](auto number) { bytes = form.parts * sizeof number; });
  return bytes;
}

// Fortran's types are those of C that have their size.
std::optional<FloatForm> predefined_form(MPI_Datatype datatype) {
  struct Row {
    MPI_Datatype datatype;
    FloatForm form;
  };
  const std::array rows{
#if defined(__FLT16_MAX__) && defined(MPIX_C_FLOAT16)
      Row{MPIX_C_FLOAT16, {FloatKind::half, 1}},
#  if defined(MPIX_C_SHORT_FLOAT_COMPLEX)
      Row{MPIX_C_SHORT_FLOAT_COMPLEX, {FloatKind::half, 2}},
      Row{MPIX_CXX_SHORT_FLOAT_COMPLEX, {FloatKind::half, 2}},
#  endif
#endif
#if defined(__FLT16_MAX__) && defined(MPI_REAL2) && defined(MPI_COMPLEX4)
      Row{MPI_REAL2, {FloatKind::half, 1}},
      Row{MPI_COMPLEX4, {FloatKind::half, 2}},
#endif
      Row{MPI_FLOAT, {FloatKind::single, 1}},
      Row{MPI_DOUBLE, {FloatKind::twice, 1}},
      Row{MPI_LONG_DOUBLE, {FloatKind::extended, 1}},
      Row{MPI_C_FLOAT_COMPLEX, {FloatKind::single, 2}},
      Row{MPI_C_DOUBLE_COMPLEX, {FloatKind::twice, 2}},
      Row{MPI_C_LONG_DOUBLE_COMPLEX, {FloatKind::extended, 2}},
      Row{MPI_CXX_FLOAT_COMPLEX, {FloatKind::single, 2}},
      Row{MPI_CXX_DOUBLE_COMPLEX, {FloatKind::twice, 2}},
      Row{MPI_CXX_LONG_DOUBLE_COMPLEX, {FloatKind::extended, 2}},
      Row{MPI_REAL, {FloatKind::single, 1}},
      Row{MPI_DOUBLE_PRECISION, {FloatKind::twice, 1}},
      Row{MPI_REAL4, {FloatKind::single, 1}},
      Row{MPI_REAL8, {FloatKind::twice, 1}},
      Row{MPI_COMPLEX, {FloatKind::single, 2}},
      Row{MPI_DOUBLE_COMPLEX, {FloatKind::twice, 2}},
      Row{MPI_COMPLEX8, {FloatKind::single, 2}},
      Row{MPI_COMPLEX16, {FloatKind::twice, 2}},
  };
  for (const Row& row : rows)
    if (row.datatype == datatype) return row.form;
  return std::nullopt;
}

// Those that a Fortran program asks for by their precision.
std::optional<FloatForm> parametrized_form(MPI_Datatype datatype, std::size_t bytes) {
  const int combiner = combiner_of(datatype);
  if (combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX)
    return std::nullopt;
  const std::size_t parts = combiner == MPI_COMBINER_F90_COMPLEX ? 2 : 1;
  for (const FloatKind kind : {FloatKind::single, FloatKind::twice, FloatKind::extended})
    if (bytes_of({kind, parts}) == bytes) return FloatForm{kind, parts};
  return std::nullopt;
}

}  // namespace

std::optional<FloatForm> float_form(MPI_Datatype datatype) {
  int size = 0;
  if (datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size) != MPI_SUCCESS)
    return std::nullopt;
  const auto bytes = static_cast<std::size_t>(size);
  std::optional<FloatForm> form = predefined_form(datatype);
  if (!form) form = parametrized_form(datatype, bytes);
  if (!form || bytes_of(*form) != bytes) return std::nullopt;
  return form;
}

}  // namespace resprout::shim
