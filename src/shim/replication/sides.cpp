#include "shim/replication/sides.hpp"

namespace resprout::shim {

void Sides::add(std::vector<Piece>& to, const void* buffer, int count, MPI_Datatype datatype) {
  if (count > 0 && datatype != MPI_DATATYPE_NULL && buffer != MPI_IN_PLACE)
    to.push_back(Piece::of(buffer, count, datatype));
}

void Sides::add_all(std::vector<Piece>& to, const Pieces& pieces) const {
  if (!pieces.are_valid(size_)) return;
  for (int rank = 0; rank < size_; ++rank) to.push_back(pieces.of(rank));
}

void Sides::add_each(std::vector<Piece>& to, const std::vector<int>& neighbors,
                     const Pieces& pieces) {
  const int count = static_cast<int>(neighbors.size());
  if (!pieces.are_valid(count)) return;
  for (int i = 0; i < count; ++i)
    if (neighbors[static_cast<std::size_t>(i)] != MPI_PROC_NULL) to.push_back(pieces.of(i));
}

}  // namespace resprout::shim
