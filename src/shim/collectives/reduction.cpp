#include "shim/collectives/reduction.hpp"

#include "shim/world.hpp"

namespace resprout::shim {
namespace {

std::optional<SumForm> wanted_form(MPI_Op op, MPI_Datatype datatype, int count) {
  if (World::current()->options().sum != Sum::reproducible) return std::nullopt;
  return sum_form(op, datatype, count);
}

}  // namespace

Reduction::Reduction(MPI_Op op, MPI_Datatype datatype, int count)
    : op_(op),
      layout_(layout_of(datatype, count)),
      form_(wanted_form(op, datatype, count)),
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

void Reduction::write(std::span<const std::byte> result, void* buffer) const {
  if (form_)
    write_numbers(result, buffer, *form_);
  else
    gather_up(result, buffer, layout_);
}

}  // namespace resprout::shim
