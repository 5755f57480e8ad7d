#include "mpi/handles/datatypes/type_recipe.hpp"

namespace resprout::shim {
namespace {

bool is_predefined_by(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

// How much MPI has to tell of a datatype. `counts`: 0, unless a function with large counts made it.
struct Envelope {
  explicit Envelope(MPI_Datatype datatype) {
#if MPI_VERSION >= 4
    // The form without large counts is an error where there are some.
    PMPI_Type_get_envelope_c(datatype, &integers, &addresses, &counts, &datatypes, &combiner);
#else
    PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
#endif
  }

#if MPI_VERSION >= 4
  using Number = MPI_Count;
#else
  using Number = int;
#endif
  Number integers = 0;
  Number addresses = 0;
  Number counts = 0;
  Number datatypes = 0;
  int combiner = MPI_COMBINER_NAMED;
};

template <typename Value, typename Number>
std::vector<Value> room_for(Number count) {
  return std::vector<Value>(static_cast<std::size_t>(count));
}

}  // namespace

int combiner_of(MPI_Datatype datatype) { return Envelope(datatype).combiner; }

RecipeNumbers in_classic_order(int combiner, const std::vector<int>& integers,
                               const std::vector<MPI_Aint>& counts) {
  const auto first = [&](std::size_t n) {
    return RecipeNumbers{{counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n)},
                         {counts.begin() + static_cast<std::ptrdiff_t>(n), counts.end()}};
  };
  // The integers before the counts, the counts, and the other integers.
  const auto between = [&](std::ptrdiff_t n) {
    RecipeNumbers numbers{{integers.begin(), integers.begin() + n}, {}};
    numbers.integers.insert(numbers.integers.end(), counts.begin(), counts.end());
    numbers.integers.insert(numbers.integers.end(), integers.begin() + n, integers.end());
    return numbers;
  };
  switch (combiner) {
    case MPI_COMBINER_RESIZED:
      return first(0);
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return first(2);
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      return first(1 + static_cast<std::size_t>(counts.front()));
    case MPI_COMBINER_SUBARRAY:
      return between(1);
    case MPI_COMBINER_DARRAY:
      return between(3);
    default:
      return first(counts.size());
  }
}

TypeRecipe::TypeRecipe(MPI_Datatype datatype) {
  const Envelope envelope(datatype);
  combiner_ = envelope.combiner;
  if (is_predefined()) return;
  auto integers = room_for<int>(envelope.integers);
  numbers_.addresses = room_for<MPI_Aint>(envelope.addresses);
  parts_ = room_for<MPI_Datatype>(envelope.datatypes);
#if MPI_VERSION >= 4
  if (envelope.counts != 0) {
    auto counts = room_for<MPI_Count>(envelope.counts);
    PMPI_Type_get_contents_c(datatype, envelope.integers, envelope.addresses, envelope.counts,
                             envelope.datatypes, integers.data(), numbers_.addresses.data(),
                             counts.data(), parts_.data());
    numbers_ = in_classic_order(combiner_, integers, {counts.begin(), counts.end()});
    return;
  }
#endif
  PMPI_Type_get_contents(datatype, static_cast<int>(envelope.integers),
                         static_cast<int>(envelope.addresses), static_cast<int>(envelope.datatypes),
                         integers.data(), numbers_.addresses.data(), parts_.data());
  numbers_.integers.assign(integers.begin(), integers.end());
}

TypeRecipe::~TypeRecipe() {
  for (MPI_Datatype& part : parts_)
    if (!is_predefined_by(combiner_of(part))) PMPI_Type_free(&part);
}

bool TypeRecipe::is_predefined() const { return is_predefined_by(combiner_); }

}  // namespace resprout::shim
