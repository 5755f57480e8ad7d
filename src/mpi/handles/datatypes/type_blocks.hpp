// Where the bytes of one element of a datatype lie, in the order in which MPI packs them.
//
// Of distributed arrays: MPI 3.1, section 4.1.4.
// Thread rule: from any thread from which MPI may be called.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

namespace resprout::shim {

// Bytes that lie one after the other.
struct TypeBlock {
  MPI_Aint at;     // from the address of the element; a lower bound is not subtracted
  MPI_Aint bytes;  // > 0
  bool operator==(const TypeBlock&) const = default;
};

// No block begins where the one before ends, but blocks may overlap and go backwards.
// Nothing: the datatype, or what it is made of, has a combiner that MPI 3.1 does not have, or is
// MPI's own with gaps inside and more than 256 bytes.
// REQUIRES: MPI is initialized; the datatype is not freed yet, but need not be committed.
std::optional<std::vector<TypeBlock>> blocks_of(MPI_Datatype datatype);

}  // namespace resprout::shim
