#include "mpi/handles/datatypes/type_recipe.hpp"

namespace resprout::shim {
namespace {

bool is_predefined_by(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace

int combiner_of(MPI_Datatype datatype) {
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
  return combiner;
}

TypeRecipe::TypeRecipe(MPI_Datatype datatype) {
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner_);
  if (is_predefined()) return;
  integers_.resize(static_cast<std::size_t>(integers));
  addresses_.resize(static_cast<std::size_t>(addresses));
  parts_.resize(static_cast<std::size_t>(datatypes));
  PMPI_Type_get_contents(datatype, integers, addresses, datatypes, integers_.data(),
                         addresses_.data(), parts_.data());
}

TypeRecipe::~TypeRecipe() {
  for (MPI_Datatype& part : parts_)
    if (!is_predefined_by(combiner_of(part))) PMPI_Type_free(&part);
}

bool TypeRecipe::is_predefined() const { return is_predefined_by(combiner_); }

}  // namespace resprout::shim
