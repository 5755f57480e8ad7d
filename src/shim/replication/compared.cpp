#include "shim/replication/compared.hpp"

#include "shim/communicator.hpp"
#include "shim/replication/communicator_name.hpp"
#include "shim/replication/decided.hpp"
#include "shim/replication/digest.hpp"

namespace resprout::shim {

using runtime::Stream;

std::uint64_t Comparing::next_number(std::uint64_t communicator) {
  const std::scoped_lock lock(mutex_);
  return numbers_.next({communicator, rank, rank, 0, Stream::Of::contributions}).number;
}

runtime::SentStreams Comparing::numbers() {
  const std::scoped_lock lock(mutex_);
  return numbers_;
}

void Comparing::set_numbers(const runtime::SentStreams& numbers) {
  const std::scoped_lock lock(mutex_);
  numbers_ = numbers;
}

Comparison::Comparison(Comparing& by, MPI_Comm comm, const char* call) : by_(&by), call_(call) {
  const auto name = name_of(comm);
  if (!name) return;
  const Communicator& communicator = *communicator_of(comm);
  name_ = {{*name, by.rank, by.rank, 0, Stream::Of::messages}, 0};
  sides_.emplace(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
}

void Comparison::start() {
  settle_decisions();
  if (!sides_) {
    by_->skipped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (by_->room != nullptr) by_->room->wait_for_collective();
  name_.number = by_->next_number(name_.stream.communicator);
  awaited_.clear();
  compare(Stream::Of::contributions, sides_->given());
}

// What is nothing here is compared, too: numbers have no gaps.
void Comparison::compare(Stream::Of of, const std::vector<Piece>& pieces) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.layout.packed_bytes;
  runtime::MessageName name = name_;
  name.stream.of = of;
  if (by_->room != nullptr) by_->room->count_compared();
  by_->verifier->compare({name, call_, bytes, nullptr}, digest_of(pieces).low, !by_->is_lazy);
  if (!by_->is_lazy) awaited_.push_back(name);
}

void Comparison::end() {
  if (!sides_) return;
  compare(Stream::Of::results, sides_->got());
  for (const runtime::MessageName& name : awaited_) by_->verifier->wait(name, by_->meanwhile);
}

}  // namespace resprout::shim
