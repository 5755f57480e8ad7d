#include "mpi/handles/operators/reduction.hpp"

#include <algorithm>

#include "mpi/process/world.hpp"

namespace resprout::shim {

std::optional<SumForm> reproducible_form(MPI_Op op, MPI_Datatype datatype, std::int64_t count) {
  if (World::current()->options().sum != Sum::reproducible) return std::nullopt;
  return sum_form(op, datatype, count);
}

Reduction::Reduction(MPI_Op op, MPI_Datatype datatype, std::int64_t count)
    : op_(op),
      layout_(layout_of(datatype, count)),
      form_(reproducible_form(op, datatype, count)),
      elements_(op, layout_) {}

std::span<const std::byte> Reduction::input(const void* buffer) {
  if (!form_) return spread(buffer, layout_);
  storage_ = sums_of(buffer, *form_);
  return storage_;
}

runtime::Combiner& Reduction::combiner() {
  if (form_) return sums_;
  return elements_;
}

Reduction::Room Reduction::room_for_elements() const {
  if (layout_.is_dense || layout_.count == 0) return {layout_.spread_bytes, 0};
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(layout_.datatype, &lb, &extent);
  const auto true_end = layout_.true_lb + static_cast<MPI_Aint>(layout_.spread_bytes);
  const MPI_Aint begin = std::min({MPI_Aint{0}, lb, layout_.true_lb});
  const MPI_Aint end = std::max(lb + extent * layout_.count, true_end);
  return {static_cast<std::size_t>(end - begin), static_cast<std::size_t>(-begin)};
}

void Reduction::write(std::span<const std::byte> result, void* buffer) const {
  if (form_)
    write_numbers(result, buffer, *form_);
  else
    gather_up(result, buffer, layout_);
}

void Reduction::write_part(std::span<const std::byte> result, std::int64_t first,
                           std::int64_t count, void* buffer) const {
  if (form_) {
    const SumForm before{form_->element, static_cast<std::size_t>(first)};
    const SumForm part{form_->element, static_cast<std::size_t>(count)};
    write_numbers(result.subspan(before.sum_bytes()), buffer, part);
  } else {
    gather_up_part(result, layout_, first, buffer, layout_of(layout_.datatype, count));
  }
}

}  // namespace resprout::shim
