// The parts of a buffer that belong to the single ranks: of the receive buffer of MPI_Gather or the
// send buffer of MPI_Alltoallw, say; and how they become blocks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mpi/handles/datatypes/payload.hpp"
#include "runtime/blocks.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

// Some elements in the program's memory. Of a send buffer: only read.
struct Piece {
  char* buffer = nullptr;
  Layout layout = {};

  static Piece of(const void* buffer, std::int64_t count, MPI_Datatype datatype) {
    return {const_cast<char*>(static_cast<const char*>(buffer)), layout_of(datatype, count)};
  }
  std::size_t block_bytes() const { return runtime::block_bytes(layout.packed_bytes); }
};

// Of all of them together, packed.
inline std::size_t bytes_of(std::span<const Piece> pieces) {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.layout.packed_bytes;
  return bytes;
}

// Refers to the arrays of the call. What the arguments mean is looked at only when a piece is asked
// for: where an argument is not significant it may be anything.
class Pieces {
 public:
  // One behind the other.
  Pieces(const void* buffer, int count, MPI_Datatype datatype)
      : buffer_(buffer), count_(count), datatype_(datatype) {}
  // The v-forms: displacements count extents.
  Pieces(const void* buffer, const int* counts, const int* displs, MPI_Datatype datatype)
      : buffer_(buffer), count_(-1), counts_(counts), displs_(displs), datatype_(datatype) {}
  // The w-form: displacements count bytes.
  Pieces(const void* buffer, const int* counts, const int* displs, const MPI_Datatype* datatypes)
      : buffer_(buffer), count_(-1), counts_(counts), displs_(displs), datatypes_(datatypes) {}
  // That of neighborhood collectives.
  Pieces(const void* buffer, const int* counts, const MPI_Aint* displs,
         const MPI_Datatype* datatypes)
      : buffer_(buffer), count_(-1), counts_(counts), byte_displs_(displs), datatypes_(datatypes) {}

  // As they are for a session that has lost members: these have no elements, whatever the arrays
  // say of them. Programs compute arrays from what members give, and the lost give nothing.
  // REQUIRES, and of what follows: the arguments are significant.
  Pieces among(const runtime::Session& session) const;
  // They come from what the lost have not given, the places of the living with them: a count of a
  // lost member is negative, and so is the displacement of a living one.
  bool depend_on_lost(const runtime::Session& session) const;
  // All have as many elements, one behind the other.
  bool are_even() const { return counts_ == nullptr; }
  // All have elements of it. REQUIRES: are_even().
  bool are_of(MPI_Datatype datatype) const { return datatype_ == datatype; }
  // Some have elements of it. REQUIRES: if they have datatypes of their own, the arrays are kept.
  bool use(MPI_Datatype datatype) const;
  // False: no call with these is valid in a communicator of so many ranks.
  bool are_valid(int size) const;
  Piece of(int rank) const;
  std::vector<Piece> all(int size) const;
  // The same, with arrays of its own, of so many entries.
  Pieces kept(int size) const;

 private:
  struct Arrays {
    std::vector<int> counts;
    std::vector<int> displs;
    std::vector<MPI_Aint> byte_displs;
    std::vector<MPI_Datatype> datatypes;
  };
  std::shared_ptr<Arrays> own_arrays(int size);
  MPI_Datatype datatype_of(int rank) const { return datatypes_ ? datatypes_[rank] : datatype_; }
  // In extents, or in bytes.
  MPI_Aint displacement_of(int rank) const;

  const void* buffer_;
  int count_ = 0;  // of those that are even; -1: there should be arrays
  const int* counts_ = nullptr;
  const int* displs_ = nullptr;
  const MPI_Aint* byte_displs_ = nullptr;
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
  const MPI_Datatype* datatypes_ = nullptr;
  std::shared_ptr<const Arrays> own_;  // null: they are the call's
};

// For persistent collectives, which need them after the call: programs do not keep them for longer
// (mpi4py). `root`: they are significant only there. As they are for two groups: that is the MPI
// library's.
Pieces kept(const Pieces& pieces, MPI_Comm comm);
Pieces kept_at(int root, const Pieces& pieces, MPI_Comm comm);
// A count for each rank. Null: for two groups, or where there are none.
using KeptCounts = std::shared_ptr<const std::vector<int>>;
KeptCounts kept(const int* counts, MPI_Comm comm);

// What `Pieces` says of all ranks, looked at once: afterwards no MPI is needed, and no arrays of
// the call. Of none: for where the arguments are not significant.
class PieceList {
 public:
  PieceList() = default;
  // REQUIRES: pieces.are_valid(size).
  PieceList(const Pieces& pieces, int size);

  const Piece& of(int rank) const { return pieces_[static_cast<std::size_t>(rank)]; }
  bool are_dense() const;
  bool use(MPI_Datatype datatype) const;

 private:
  std::vector<Piece> pieces_;
};

// Writes the packed elements as the block of a rank.
void put_piece(runtime::BlockWriter& writer, int rank, const Piece& piece);
// A row with that block alone. `takes_all`: as in runtime::Block.
runtime::Buffer row_of(runtime::Session& session, int rank, const Piece& piece,
                       bool takes_all = true);

// Writes a block's elements where they belong. MPI_ERR_TRUNCATE: there are too many.
int take_block(std::span<const std::byte> block, const Piece& piece);

// Where each rank gives one MPI_COUNT: of the lost that is 0, as nothing will follow from them, and
// not what has been in the receive buffer. mpi4py counts so what it has pickled. Before the call.
void expect_counts(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int ranks);

// Writes every block of a row into the piece of its rank, but for that of `except`. MPI_SUCCESS or
// the last error.
template <typename AnyPieces>
int take_row(std::span<const std::byte> row, const AnyPieces& pieces, int except = -1) {
  int code = MPI_SUCCESS;
  runtime::BlockReader reader(row);
  while (const auto block = reader.next()) {
    if (block->rank == except) continue;
    const int taken = take_block(block->data, pieces.of(block->rank));
    if (taken != MPI_SUCCESS) code = taken;
  }
  return code;
}

}  // namespace resprout::shim
