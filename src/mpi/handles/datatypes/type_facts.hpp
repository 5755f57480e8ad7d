// What calls ask about a datatype again and again: found out once, and kept with it.
// Thread rule: from any thread from which MPI may be called.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/handles/datatypes/type_packer.hpp"
#include "mpi/handles/datatypes/type_padding.hpp"

namespace resprout::shim {

// Of one element, in bytes.
struct TypeFacts {
  std::size_t size = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lb = 0;
  MPI_Aint true_extent = 0;
  bool is_dense = false;  // no gaps, in order, starts at the buffer's address
  Padding padding;        // of what is packed
};

// They live as long as the datatype.
const TypeFacts& facts_of(MPI_Datatype datatype);

// Whether MPI takes it for a buffer: it is committed. REQUIRES: MPI is initialized.
bool is_committed(MPI_Datatype datatype);

// Who packs its elements; lives as long. Null: MPI_Pack has to, or this is the first time that
// anybody asks: many datatypes are used once, and then it is not worth while.
const TypePacker* packer_of(MPI_Datatype datatype);

}  // namespace resprout::shim
