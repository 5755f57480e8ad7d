// Where in a file the data of a view lie (MPI 3.1, section 13.3): of all the bytes behind its
// displacement those that its file type has, one file type behind the other.
//
// Thread rule: a value; `of` from any thread from which MPI may be called.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "mpi/handles/datatypes/type_blocks.hpp"

namespace resprout::shim {

// What the view of an open file is made of.
class ViewParts {
 public:
  explicit ViewParts(MPI_File fh);
  ~ViewParts();
  ViewParts(const ViewParts&) = delete;
  ViewParts& operator=(const ViewParts&) = delete;

  MPI_Offset displacement = 0;
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Datatype file_type = MPI_DATATYPE_NULL;
  int element_bytes = 0;
  bool is_native = false;  // its data representation
};

class View {
 public:
  // All bytes of the file.
  View() : View(0, 1, {{0, 1}}, 1) {}
  // Of file types of these blocks, in their order, `extent` bytes from one file type to the next.
  View(MPI_Offset displacement, MPI_Offset element_bytes, std::vector<TypeBlock> blocks,
       MPI_Offset extent);
  // That of an open file. Nothing: it is not known where its data lie, as of other data
  // representations than MPI's "native".
  static std::optional<View> of(MPI_File fh);

  // `act(at, bytes)` for each piece of the file that so many bytes of data are, from the `at`-th
  // element of the view on.
  template <typename Act>
  void for_each_piece(MPI_Offset at, MPI_Offset bytes, const Act& act) const {
    if (data_bytes() == 0) return;
    MPI_Offset tile = at * element_bytes_ / data_bytes();
    MPI_Offset within = at * element_bytes_ % data_bytes();
    for (; bytes > 0; ++tile, within = 0)
      for (std::size_t i = block_of(within); i < blocks_.size() && bytes > 0; ++i) {
        const MPI_Offset skipped = within - begins_[i];
        const MPI_Offset piece = std::min<MPI_Offset>(bytes, blocks_[i].bytes - skipped);
        act(displacement_ + tile * extent_ + blocks_[i].at + skipped, piece);
        bytes -= piece;
        within += piece;
      }
  }

 private:
  MPI_Offset data_bytes() const { return begins_.back(); }
  // That has this byte of the data of a file type.
  std::size_t block_of(MPI_Offset within) const {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), within);
    return static_cast<std::size_t>(next - begins_.begin()) - 1;
  }

  MPI_Offset displacement_;
  MPI_Offset element_bytes_;
  std::vector<TypeBlock> blocks_;
  MPI_Offset extent_;
  std::vector<MPI_Offset> begins_;  // of each block in the data; and where these end
};

}  // namespace resprout::shim
