#include "mpi/policies/call_data.hpp"

namespace resprout::shim {

void CallData::add(std::vector<Piece>& to, const void* buffer, std::int64_t count,
                   MPI_Datatype datatype) {
  if (count > 0 && datatype != MPI_DATATYPE_NULL && buffer != MPI_IN_PLACE)
    to.push_back(Piece::of(buffer, count, datatype));
}

void CallData::add_all(std::vector<Piece>& to, const Pieces& pieces) const {
  if (!pieces.are_valid(size_)) return;
  for (int rank = 0; rank < size_; ++rank) to.push_back(pieces.of(rank));
}

bool CallData::add_each(std::vector<Piece>& to, const std::vector<int>& neighbors,
                        const Pieces& pieces) {
  const int count = static_cast<int>(neighbors.size());
  if (!pieces.are_valid(count)) return false;
  for (int i = 0; i < count; ++i)
    if (neighbors[static_cast<std::size_t>(i)] != MPI_PROC_NULL) to.push_back(pieces.of(i));
  return true;
}

// What a rank gives has parts for each rank, as many of them as there are blocks between the two.
void CallData::give_each(const Neighbors& neighbors, const Pieces& pieces) {
  if (!add_each(given_, neighbors.destinations, pieces)) pattern = {};
  for (std::size_t i = 0; i < neighbors.destinations.size(); ++i)
    if (const int to = neighbors.destinations[i]; to != MPI_PROC_NULL)
      ways_out_.push_back({to, 1 + to + size_ * neighbors.numbers_out[i]});
}

void CallData::get_each(const Neighbors& neighbors, const Pieces& pieces) {
  if (!add_each(got_, neighbors.sources, pieces)) pattern = {};
  for (std::size_t i = 0; i < neighbors.sources.size(); ++i)
    if (const int from = neighbors.sources[i]; from != MPI_PROC_NULL)
      ways_in_.push_back({from, 1 + rank_ + size_ * neighbors.numbers_in[i]});
}

void CallData::get_all_of_each(const Neighbors& neighbors, const Pieces& pieces) {
  get_each(neighbors, pieces);
  for (Way& way : ways_in_) way.part = 0;
}

}  // namespace resprout::shim
