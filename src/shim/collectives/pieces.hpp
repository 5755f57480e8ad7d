// The parts of a buffer that belong to the single ranks: of the receive buffer of MPI_Gather or the
// send buffer of MPI_Alltoallw, say; and how they become blocks.
#pragma once

#include <mpi.h>

#include <span>

#include "runtime/blocks.hpp"
#include "runtime/session.hpp"
#include "shim/payload.hpp"

namespace resprout::shim {

// Some elements in the program's memory. Of a send buffer: only read.
struct Piece {
  char* buffer = nullptr;
  Layout layout = {};

  static Piece of(const void* buffer, int count, MPI_Datatype datatype) {
    return {const_cast<char*>(static_cast<const char*>(buffer)), layout_of(datatype, count)};
  }
  std::size_t block_bytes() const { return runtime::block_bytes(layout.packed_bytes); }
};

// Refers to the arrays of the call. What the arguments mean is looked at only when a piece is asked
// for: where an argument is not significant it may be anything.
class Pieces {
 public:
  // One behind the other.
  Pieces(const void* buffer, int count, MPI_Datatype datatype)
      : buffer_(buffer), count_(count), datatype_(datatype) {}
  // The v-forms: displacements count extents.
  Pieces(const void* buffer, const int* counts, const int* displs, MPI_Datatype datatype)
      : buffer_(buffer), counts_(counts), displs_(displs), datatype_(datatype) {}
  // The w-form: displacements count bytes.
  Pieces(const void* buffer, const int* counts, const int* displs, const MPI_Datatype* datatypes)
      : buffer_(buffer), counts_(counts), displs_(displs), datatypes_(datatypes) {}

  // False: no call with these is valid in a communicator of so many ranks.
  bool are_valid(int size) const;
  Piece of(int rank) const;

 private:
  MPI_Datatype datatype_of(int rank) const { return datatypes_ ? datatypes_[rank] : datatype_; }

  const void* buffer_;
  int count_ = 0;
  const int* counts_ = nullptr;
  const int* displs_ = nullptr;
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
  const MPI_Datatype* datatypes_ = nullptr;
};

// Writes the packed elements as the block of a rank.
void put_piece(runtime::BlockWriter& writer, int rank, const Piece& piece);
// A row with that block alone.
runtime::Buffer row_of(runtime::Session& session, int rank, const Piece& piece);

// Writes a block's elements where they belong. MPI_ERR_TRUNCATE: there are too many.
int take_block(std::span<const std::byte> block, const Piece& piece);

// Writes every block of a row into the piece of its rank, but for that of `except`. MPI_SUCCESS or
// the last error.
int take_row(std::span<const std::byte> row, const Pieces& pieces, int except = -1);

}  // namespace resprout::shim
