#include "shim/replication/compared.hpp"

#include "shim/collectives/call.hpp"
#include "shim/communicator.hpp"
#include "shim/replication/communicator_name.hpp"
#include "shim/replication/decided.hpp"
#include "shim/replication/digest.hpp"

namespace resprout::shim {

using runtime::Stream;

void Sides::add(std::vector<Piece>& to, const void* buffer, int count, MPI_Datatype datatype) {
  if (count > 0 && datatype != MPI_DATATYPE_NULL && buffer != MPI_IN_PLACE)
    to.push_back(Piece::of(buffer, count, datatype));
}

void Sides::add_all(std::vector<Piece>& to, const Pieces& pieces) const {
  if (!pieces.are_valid(size_)) return;
  for (int rank = 0; rank < size_; ++rank) to.push_back(pieces.of(rank));
}

bool Compared::begin(MPI_Comm comm, const char* call) {
  if (comm == MPI_COMM_NULL) return false;
  settle_decisions();
  const auto name = name_of(comm);
  if (!name) {
    by_->skipped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (by_->room != nullptr) by_->room->wait_for_collective();
  Communicator& communicator = *communicator_of(comm);
  call_ = call;
  name_ = {{*name, by_->rank, by_->rank, 0, Stream::Of::messages}, ++communicator.collectives_seen};
  sides_.emplace(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
  return true;
}

// What is nothing here is compared, too: numbers have no gaps.
void Compared::compare(Stream::Of of, const std::vector<Piece>& pieces) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.layout.packed_bytes;
  runtime::MessageName name = name_;
  name.stream.of = of;
  if (by_->room != nullptr) by_->room->count_compared();
  by_->verifier->compare({name, call_, bytes, nullptr}, digest_of(pieces).low, !by_->is_lazy);
  if (!by_->is_lazy) awaited_.push_back(name);
}

void Compared::end() {
  compare(Stream::Of::results, sides_->got());
  for (const runtime::MessageName& name : awaited_) by_->verifier->wait(name, by_->meanwhile);
}

}  // namespace resprout::shim
