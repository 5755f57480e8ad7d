// Packs elements of a datatype: what MPI_Pack makes, block by block and several times sooner.
//
// What a datatype is made of is asked once; then its blocks are copied, those of a row in a loop of
// their own. Small ones that follow no rule, as those that indices pick out of a vector, are a row
// of words whose places are listed. Bounded: of elements of more than 8 MiB, or of more than 65,536
// rows and listed words, MPI_Pack has to take care.
// Thread rule: of() where MPI may be called; else pure.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpi/handles/datatypes/type_blocks.hpp"

namespace resprout::shim {

class TypePacker {
 public:
  // So many blocks of so many bytes. The n-th is at `at + n * step`, in bytes from the element's
  // address; or, without a step, at `places()[at + n]`.
  struct Row {
    MPI_Aint at;
    std::size_t bytes;
    std::optional<MPI_Aint> step;
    std::size_t count;
    bool operator==(const Row&) const = default;
  };

  // Null: only MPI_Pack knows, or there is too much to know. REQUIRES: as blocks_of.
  static std::unique_ptr<const TypePacker> of(MPI_Datatype datatype);

  TypePacker(const std::vector<TypeBlock>& blocks, MPI_Aint extent);

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<MPI_Aint>& places() const { return places_; }
  // Where a block of the row begins, in bytes from the element's address.
  MPI_Aint place_of(const Row& row, std::size_t block) const {
    const auto n = static_cast<MPI_Aint>(block);
    return row.step ? row.at + *row.step * n : places_[static_cast<std::size_t>(row.at + n)];
  }
  MPI_Aint extent() const { return extent_; }

 private:
  Row listed(std::span<const Row> rows);

  std::vector<Row> rows_;
  std::vector<MPI_Aint> places_;
  MPI_Aint extent_;  // from an element to the next
};

// The first `bytes` packed bytes of a buffer of such elements, piece by piece.
class PackedPieces {
 public:
  // REQUIRES: the packer outlives it, and has rows if there are bytes.
  PackedPieces(const TypePacker& packer, const void* buffer, std::size_t bytes)
      : packer_(packer), element_(static_cast<const std::byte*>(buffer)), left_(bytes) {}

  // The next ones, in `room` or, of a block that is larger than it, where they lie; all that are
  // left if there is room for them. Empty: that was all. REQUIRES: there is room.
  std::span<const std::byte> next(std::span<std::byte> room);

 private:
  void copy(std::byte* to, const TypePacker::Row& row, std::size_t blocks) const;
  void advance(std::size_t blocks);

  const TypePacker& packer_;
  const std::byte* element_;
  std::size_t left_;
  std::size_t row_ = 0;
  std::size_t done_ = 0;  // blocks of that row
};

}  // namespace resprout::shim
