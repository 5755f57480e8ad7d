#include "shim/sum/reproducible.hpp"

#include <array>
#include <cstring>

#include "shim/sum/grid_sum.hpp"

namespace resprout::shim {
namespace {

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

struct Row {
  MPI_Datatype datatype;
  FloatKind kind;
  std::size_t parts;
};

// Fortran's types are those of C that have their size.
std::optional<Row> find_row(MPI_Datatype datatype) {
  const std::array rows{
      Row{MPI_FLOAT, FloatKind::single, 1},
      Row{MPI_DOUBLE, FloatKind::twice, 1},
      Row{MPI_LONG_DOUBLE, FloatKind::extended, 1},
      Row{MPI_C_FLOAT_COMPLEX, FloatKind::single, 2},
      Row{MPI_C_DOUBLE_COMPLEX, FloatKind::twice, 2},
      Row{MPI_C_LONG_DOUBLE_COMPLEX, FloatKind::extended, 2},
      Row{MPI_CXX_FLOAT_COMPLEX, FloatKind::single, 2},
      Row{MPI_CXX_DOUBLE_COMPLEX, FloatKind::twice, 2},
      Row{MPI_CXX_LONG_DOUBLE_COMPLEX, FloatKind::extended, 2},
      Row{MPI_REAL, FloatKind::single, 1},
      Row{MPI_DOUBLE_PRECISION, FloatKind::twice, 1},
      Row{MPI_REAL4, FloatKind::single, 1},
      Row{MPI_REAL8, FloatKind::twice, 1},
      Row{MPI_COMPLEX, FloatKind::single, 2},
      Row{MPI_DOUBLE_COMPLEX, FloatKind::twice, 2},
      Row{MPI_COMPLEX8, FloatKind::single, 2},
      Row{MPI_COMPLEX16, FloatKind::twice, 2},
  };
  for (const Row& row : rows)
    if (row.datatype == datatype) return row;
  return std::nullopt;
}

std::size_t bytes_of(FloatKind kind) {
  std::size_t bytes = 0;
  with_type(kind, [&](auto number) { bytes = sizeof number; });
  return bytes;
}

}  // namespace

std::size_t SumForm::sum_bytes() const { return numbers * sizeof(GridSum); }

std::optional<SumForm> sum_form(MPI_Op op, MPI_Datatype datatype, int count) {
  if (op != MPI_SUM || datatype == MPI_DATATYPE_NULL) return std::nullopt;
  const std::optional<Row> row = find_row(datatype);
  if (!row) return std::nullopt;
  int size = 0;
  PMPI_Type_size(datatype, &size);
  if (static_cast<std::size_t>(size) != row->parts * bytes_of(row->kind)) return std::nullopt;
  return SumForm{row->kind, row->parts * static_cast<std::size_t>(count)};
}

std::vector<std::byte> sums_of(const void* buffer, const SumForm& form) {
  std::vector<std::byte> sums(form.sum_bytes());
  with_type(form.kind, [&]<typename F>(F) {
    const auto* const numbers = static_cast<const F*>(buffer);
    for (std::size_t i = 0; i < form.numbers; ++i) {
      const GridSum sum(numbers[i]);
      std::memcpy(sums.data() + i * sizeof sum, &sum, sizeof sum);
    }
  });
  return sums;
}

void write_numbers(std::span<const std::byte> sums, void* buffer, const SumForm& form) {
  with_type(form.kind, [&]<typename F>(F) {
    auto* const numbers = static_cast<F*>(buffer);
    for (std::size_t i = 0; i < form.numbers; ++i) {
      GridSum sum;
      std::memcpy(&sum, sums.data() + i * sizeof sum, sizeof sum);
      numbers[i] = sum.value<F>();
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
