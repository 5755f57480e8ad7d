#include "mpi/handles/operators/reproducible.hpp"

#include <cstring>
#include <type_traits>

#include "mpi/handles/operators/grid_sum.hpp"

namespace resprout::shim {
namespace {

// What the library has functions for.
template <typename F>
using Computed = std::conditional_t<sizeof(F) < sizeof(float), double, F>;

}  // namespace

std::size_t SumForm::sum_bytes() const { return numbers() * sizeof(GridSum); }

std::optional<SumForm> sum_form(MPI_Op op, MPI_Datatype datatype, std::int64_t count) {
  if (op != MPI_SUM) return std::nullopt;
  const std::optional<FloatForm> form = float_form(datatype);
  if (!form) return std::nullopt;
  return SumForm{*form, static_cast<std::size_t>(count)};
}

std::vector<std::byte> sums_of(const void* buffer, const SumForm& form) {
  std::vector<std::byte> sums(form.sum_bytes());
  with_type(form.element.kind, [&]<typename F>(F) {
    const auto* const numbers = static_cast<const F*>(buffer);
    for (std::size_t i = 0; i < form.numbers(); ++i) {
      const GridSum sum(static_cast<Computed<F>>(numbers[i]));
      std::memcpy(sums.data() + i * sizeof sum, &sum, sizeof sum);
    }
  });
  return sums;
}

void write_numbers(std::span<const std::byte> sums, void* buffer, const SumForm& form) {
  with_type(form.element.kind, [&]<typename F>(F) {
    auto* const numbers = static_cast<F*>(buffer);
    for (std::size_t i = 0; i < form.numbers(); ++i) {
      GridSum sum;
      std::memcpy(&sum, sums.data() + i * sizeof sum, sizeof sum);
      numbers[i] = static_cast<F>(sum.value<Computed<F>>());
    }
  });
}

// What lies in a transport's memory need not be aligned.
void SumCombiner::combine(std::span<const std::byte> lower, std::span<std::byte> upper) {
  GridSum below;
  GridSum above;
  for (std::size_t at = 0; at < upper.size(); at += sizeof below) {
    std::memcpy(&below, lower.data() + at, sizeof below);
    std::memcpy(&above, upper.data() + at, sizeof above);
    above.add(below);
    std::memcpy(upper.data() + at, &above, sizeof above);
  }
}

}  // namespace resprout::shim
