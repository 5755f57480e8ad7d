// How a datatype was made, and of what.
// Thread rule: from any thread from which MPI may be called.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace resprout::shim {

// Which of MPI's functions has made it; MPI_COMBINER_NAMED: it is predefined.
int combiner_of(MPI_Datatype datatype);

// Integers and addresses, as MPI_Type_get_contents numbers them.
struct RecipeNumbers {
  std::vector<MPI_Aint> integers;
  std::vector<MPI_Aint> addresses;
};

// Of a datatype that a function with large counts made: MPI_Type_get_contents_c numbers these
// apart.
RecipeNumbers in_classic_order(int combiner, const std::vector<int>& integers,
                               const std::vector<MPI_Aint>& counts);

class TypeRecipe {
 public:
  explicit TypeRecipe(MPI_Datatype datatype);
  ~TypeRecipe();
  TypeRecipe(const TypeRecipe&) = delete;
  TypeRecipe& operator=(const TypeRecipe&) = delete;

  // By MPI itself; of what, it does not say.
  bool is_predefined() const;
  int combiner() const { return combiner_; }
  // As MPI_Type_get_contents numbers them. REQUIRES: derived.
  MPI_Aint integer(std::size_t i) const { return numbers_.integers[i]; }
  MPI_Aint address(std::size_t i) const { return numbers_.addresses[i]; }
  MPI_Datatype part(std::size_t i) const { return parts_[i]; }
  bool has_parts() const { return !parts_.empty(); }

 private:
  int combiner_ = MPI_COMBINER_NAMED;
  RecipeNumbers numbers_;
  std::vector<MPI_Datatype> parts_;
};

}  // namespace resprout::shim
