// A datatype of the program for longer than a call: the program may free its own as soon as the
// call that it gave it to is back.
//
// Not under a mutex that calls of MPI take: it makes and frees a duplicate, and then MPI calls what
// the program has said for attributes of its datatypes.
// Thread rule: one thread at a time.
#pragma once

#include <mpi.h>

#include <utility>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_recipe.hpp"

namespace resprout::shim {

class KeptDatatype {
 public:
  KeptDatatype() = default;
  explicit KeptDatatype(MPI_Datatype of_program) : handle_(of_program) {
    if (of_program == MPI_DATATYPE_NULL || combiner_of(of_program) == MPI_COMBINER_NAMED) return;
    is_own_ = PMPI_Type_dup(of_program, &handle_) == MPI_SUCCESS;
  }
  KeptDatatype(KeptDatatype&& other) noexcept
      : handle_(other.handle_), is_own_(std::exchange(other.is_own_, false)) {}
  KeptDatatype& operator=(KeptDatatype&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(is_own_, other.is_own_);
    return *this;
  }
  ~KeptDatatype() {
    if (is_own_) PMPI_Type_free(&handle_);
  }

  // As good as the program's, as long as this lives.
  MPI_Datatype handle() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
  bool is_own_ = false;
};

}  // namespace resprout::shim
