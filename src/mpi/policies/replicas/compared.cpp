#include "mpi/policies/replicas/compared.hpp"

#include <algorithm>
#include <utility>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/policies/digests/digest.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// One behind the other; `storage` holds them where they do not lie so.
std::span<const std::byte> packed(std::span<const Piece> pieces, std::vector<std::byte>& storage) {
  if (pieces.size() == 1) return packed(pieces[0].buffer, pieces[0].layout, storage);
  storage.reserve(bytes_of(pieces));
  std::vector<std::byte> room;
  for (const Piece& piece : pieces) {
    const auto part = packed(piece.buffer, piece.layout, room);
    storage.insert(storage.end(), part.begin(), part.end());
  }
  return storage;
}

// Memory of the program that is right already is not written: it may be memory that cannot be.
void put_right(std::span<const std::byte> bytes, std::span<const Piece> pieces) {
  std::vector<std::byte> storage;
  for (const Piece& piece : pieces) {
    const auto part = bytes.first(piece.layout.packed_bytes);
    if (!std::ranges::equal(packed(piece.buffer, piece.layout, storage), part))
      unpack(part, piece.buffer, piece.layout);
    bytes = bytes.subspan(part.size());
  }
}

}  // namespace

using runtime::Stream;

std::uint64_t Comparing::next_number(std::uint64_t communicator) {
  const runtime::MutexLock lock(mutex_);
  return numbers_.next({communicator, rank, rank, 0, Stream::Of::contributions}).number;
}

runtime::SentStreams Comparing::numbers() {
  const runtime::MutexLock lock(mutex_);
  return numbers_;
}

void Comparing::set_numbers(const runtime::SentStreams& numbers) {
  const runtime::MutexLock lock(mutex_);
  numbers_ = numbers;
}

Comparison::Comparison(Comparing& by, MPI_Comm comm, const char* call) : by_(&by), call_(call) {
  const auto name = name_of(comm);
  if (!name) return;
  const Communicator& communicator = *communicator_of(comm);
  name_ = {{*name, by.rank, by.rank, 0, Stream::Of::messages}, 0};
  call_data_.emplace(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
}

void Comparison::start() {
  settle_decisions();
  if (!call_data_) {
    by_->skipped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (by_->lag_limiter != nullptr) by_->lag_limiter->wait_for_collective();
  name_.number = by_->next_number(name_.stream.communicator);
  if (by_->is_lazy) return compare(Stream::Of::contributions, call_data_->given());
  put_right_what_is_given();
}

runtime::MessageName Comparison::name(Stream::Of of) const {
  runtime::MessageName name = name_;
  name.stream.of = of;
  return name;
}

// What is nothing here is compared, too: numbers have no gaps.
void Comparison::compare(Stream::Of of, const std::vector<Piece>& pieces) {
  if (by_->lag_limiter != nullptr) by_->lag_limiter->count_compared();
  by_->verifier->compare({name(of), call_, bytes_of(pieces), nullptr}, digest_of(pieces).low,
                         !by_->is_lazy);
}

// Who comes last need not wait; but others wait for what it has just said.
runtime::Verifier::Delivery Comparison::wait(const runtime::MessageName& name) {
  auto delivery = by_->verifier->wait(name, by_->meanwhile);
  if (by_->lingers) by_->meanwhile();
  return delivery;
}

// As a message from this rank to itself.
void Comparison::put_right_what_is_given() {
  const auto& given = call_data_->given();
  const runtime::MessageName sent = name(Stream::Of::contributions);
  const std::uint64_t digest = digest_of(given).low;
  std::vector<std::byte> storage;
  std::span<const std::byte> kept;
  if (by_->keeps_given) kept = packed(given, storage);
  if (by_->lag_limiter != nullptr) by_->lag_limiter->count_compared();
  by_->verifier->send(sent, digest, kept);
  const auto digest_of_copy = [given](std::span<const std::byte> copy) {
    return digest_of_packed(copy, given).low;
  };
  by_->verifier->receive_copy({sent, call_, bytes_of(given), digest_of_copy}, digest);
  const auto delivery = wait(sent);
  const bool is_wrong = delivery.what == runtime::Verifier::Delivery::What::other;
  // Else it is another call, and what it has left tells.
  if (is_wrong && delivery.bytes.size() == bytes_of(given)) put_right(delivery.bytes, given);
}

void Comparison::abstain() {
  if (!call_data_) return;
  if (by_->lag_limiter != nullptr) by_->lag_limiter->count_compared();
  by_->verifier->abstain(name(Stream::Of::results));
}

void Comparison::end() {
  if (!call_data_) return;
  compare(Stream::Of::results, call_data_->got());
  if (!by_->is_lazy) wait(name(Stream::Of::results));
}

}  // namespace resprout::shim
