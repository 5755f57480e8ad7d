// Reductions by MPI_SUM whose bits do not depend on the tree: RESPROUT_SUM=reproducible.
//
// Every floating-point number becomes a GridSum, which travels and is combined in its place, and a
// number again at the end: four times the bytes for a double. Complex numbers are two.
// Thread rule: pure functions and values.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/handles/datatypes/floats.hpp"
#include "runtime/operation.hpp"

namespace resprout::shim {

// How the numbers of a sum lie in memory.
struct SumForm {
  FloatForm element;
  std::size_t elements;

  std::size_t numbers() const { return element.parts * elements; }
  std::size_t sum_bytes() const;
};

// Nothing: the sum needs no help, because it is none, or one of whole numbers.
std::optional<SumForm> sum_form(MPI_Op op, MPI_Datatype datatype, std::int64_t count);

// The numbers at `buffer`, each as a sum of its own.
std::vector<std::byte> sums_of(const void* buffer, const SumForm& form);
// Writes the numbers that the first sums amount to, as many as the form has.
void write_numbers(std::span<const std::byte> sums, void* buffer, const SumForm& form);

class SumCombiner final : public runtime::Combiner {
 public:
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override;
  bool is_commutative() const override { return true; }
};

}  // namespace resprout::shim
