// How MPI's floating-point numbers lie in memory.
// Thread rule: pure functions.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

namespace resprout::shim {

enum class FloatKind { single, twice, extended };  // float, double, long double

// An element of a datatype.
struct FloatForm {
  FloatKind kind;
  std::size_t parts;  // 2: it is complex
};

// Nothing: the datatype is none of C's or C++'s, nor one of Fortran that has the size of one of
// those, also where MPI_Type_create_f90_real and its kin have made it.
std::optional<FloatForm> float_form(MPI_Datatype datatype);

// Calls f with a value of the C type.
template <typename F>
void with_type(FloatKind kind, F f) {
  switch (kind) {
    case FloatKind::single:
      return f(float{});
    case FloatKind::twice:
      return f(double{});
    case FloatKind::extended:
      return f(static_cast<long double>(0));
  }
}

}  // namespace resprout::shim
