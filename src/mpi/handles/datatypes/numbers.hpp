// A number for any of MPI's predefined types.
// Thread rule: pure.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

namespace resprout::shim {

// Writes `count` elements that are `number`; real parts of complex ones. Where the type has no
// fractions, rounded towards zero; where it is too narrow, the nearest that it has; -1 is all bits
// in one without a sign, too. Of truth values every number but zero is the true one. False, and
// nothing is written: the datatype is no number of MPI's.
bool fill_with(long double number, void* buffer, int count, MPI_Datatype datatype);

// So many times an element of one of several buffers.
struct WeightedNumbers {
  const void* elements;
  double weight;
};

// Writes `count` elements, each the sum of the weighted elements at its place, where the type has
// no fractions rounded to the nearest; real and imaginary parts by themselves. False, and nothing
// is written: the datatype is no number of MPI's, or a truth value.
bool fill_with_sums(std::span<const WeightedNumbers> terms, void* buffer, int count,
                    MPI_Datatype datatype);

}  // namespace resprout::shim
