// How MPI's floating-point numbers lie in memory.
// Thread rule: pure functions.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

namespace resprout::shim {

#ifdef __FLT16_MAX__
__extension__ typedef _Float16 Half;
#else
using Half = float;  // no datatype has it
#endif

enum class FloatKind { half, single, twice, extended };  // _Float16, float, double, long double

// An element of a datatype.
struct FloatForm {
  FloatKind kind;
  std::size_t parts;  // 2: it is complex
};

// Nothing: the datatype is none of C's or C++'s or Open MPI's for _Float16, nor one of Fortran that
// has the size of one of those, also where MPI_Type_create_f90_real and its kin have made it.
std::optional<FloatForm> float_form(MPI_Datatype datatype);

// Calls f with a value of the C type.
template <typename F>
void with_type(FloatKind kind, F f) {
  switch (kind) {
    case FloatKind::half:
      return f(Half{});
    case FloatKind::single:
      return f(float{});
    case FloatKind::twice:
      return f(double{});
    case FloatKind::extended:
      return f(static_cast<long double>(0));
  }
}

}  // namespace resprout::shim
