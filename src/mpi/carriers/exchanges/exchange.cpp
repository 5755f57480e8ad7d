#include "mpi/carriers/exchanges/exchange.hpp"

#include "mpi/carriers/specs.hpp"
#include "mpi/handles/errors/codes.hpp"

namespace resprout::shim {
namespace {

// How much everybody may get, counting what is for others.
constexpr std::size_t at_once_bytes_max = std::size_t{1} << 20;

}  // namespace

void BlockExchange::begin(runtime::Started& started) {
  const std::uint64_t mine = packed_.size();
  if (is_even_)
    begin_exchange(started, mine * static_cast<std::size_t>(size()));
  else
    allgather(started, std::as_bytes(std::span(&mine, 1)));
}

void BlockExchange::begin_exchange(runtime::Started& started, std::size_t bytes) {
  if (bytes <= at_once_bytes_max) {
    stage_ = Stage::at_once;
    allgather(started, packed_);
  } else {
    stage_ = Stage::by_receiver;
    gather_for_receiver(started);
  }
}

bool BlockExchange::go_on(runtime::Started& started, const runtime::Outcome& last) {
  if (!last.is_delivered || last.is_mismatched || code_ != MPI_SUCCESS) return false;
  switch (stage_) {
    case Stage::measuring:
      begin_exchange(started, sum_);
      return true;
    case Stage::at_once:
      return false;
    case Stage::by_receiver:
      ++receiver_;
      if (receiver_ < size())
        gather_for_receiver(started);
      else
        agree_on_who_counts(started);
      return true;
    case Stage::agreeing:
      take_what_counts();
      return false;
  }
  return false;
}

void BlockExchange::take(std::span<const std::byte> row) {
  runtime::BlockReader reader(row);
  switch (stage_) {
    case Stage::measuring:
      while (const auto block = reader.next()) {
        std::uint64_t theirs = 0;
        if (!block->takes_all) note(proc_failed());
        if (block->data.size() != sizeof theirs) return note(MPI_ERR_TRUNCATE);
        std::memcpy(&theirs, block->data.data(), sizeof theirs);
        sum_ += theirs;
      }
      break;
    case Stage::at_once:
      while (const auto theirs = reader.next()) {
        const auto block = runtime::find_block(theirs->data, rank());
        if (!block) return note(MPI_ERR_TRUNCATE);
        take_from(theirs->rank, *block);
      }
      break;
    case Stage::by_receiver:
      if (receiver_ == rank()) blocks_.assign(row.begin(), row.end());
      break;
    case Stage::agreeing:
      take_lists(row);
      break;
  }
}

void BlockExchange::allgather(runtime::Started& started, std::span<const std::byte> data) {
  runtime::Buffer row = session().allocate(runtime::block_bytes(data.size()));
  runtime::BlockWriter({row.data(), row.size()}).put(rank(), data, takes_all_);
  started.allgather(concatenation_spec(session()), std::move(row));
}

// Somebody who dies meanwhile may have given to some and not to others: what counts is agreed upon
// in the end.
void BlockExchange::gather_for_receiver(runtime::Started& started) {
  const auto piece = *runtime::find_block(packed_, receiver_);
  runtime::Buffer row = session().allocate(runtime::block_bytes(piece.size()));
  runtime::BlockWriter({row.data(), row.size()}).put(rank(), piece);
  started.gather(concatenation_spec(session()), receiver_, std::move(row));
}

// Everybody tells whose blocks it lacks.
void BlockExchange::agree_on_who_counts(runtime::Started& started) {
  stage_ = Stage::agreeing;
  std::vector<int> lacking;
  for (int r = 0; r < size(); ++r)
    if (!runtime::find_block(blocks_, r)) lacking.push_back(r);
  allgather(started, std::as_bytes(std::span(lacking)));
}

void BlockExchange::take_lists(std::span<const std::byte> row) {
  counts_.assign(static_cast<std::size_t>(size()), false);
  std::vector<int> lacked;
  runtime::BlockReader lists(row);
  while (const auto list = lists.next()) {
    if (list->data.size() % sizeof(int) != 0) return note(MPI_ERR_TRUNCATE);
    counts_[static_cast<std::size_t>(list->rank)] = true;
    const std::size_t before = lacked.size();
    lacked.resize(before + list->data.size() / sizeof(int));
    runtime::copy_bytes(lacked.data() + before, list->data.data(), list->data.size());
  }
  for (const int r : lacked) {
    if (r < 0 || r >= size()) return note(MPI_ERR_TRUNCATE);
    counts_[static_cast<std::size_t>(r)] = false;
  }
}

void BlockExchange::take_what_counts() {
  runtime::BlockReader reader(blocks_);
  while (const auto block = reader.next())
    if (counts_[static_cast<std::size_t>(block->rank)]) take_from(block->rank, block->data);
}

Exchange::Exchange(runtime::Session& session, const Pieces& send, const Pieces& receive,
                   bool is_even)
    : BlockExchange(session, is_even),
      send_(send.among(session), size()),
      receive_(receive.among(session), size()) {
  if (send.depend_on_lost(session) || receive.depend_on_lost(session)) {
    give_up();
    return;
  }
  std::size_t bytes = 0;
  for (int r = 0; r < size(); ++r) bytes += send_.of(r).block_bytes();
  std::vector<std::byte> row(bytes);
  runtime::BlockWriter writer(row);
  for (int r = 0; r < size(); ++r) put_piece(writer, r, send_.of(r));
  give(std::move(row));
  if (!receive_.are_dense()) leave_mpi_to_program();
}

void Exchange::take_from(int rank, std::span<const std::byte> block) {
  const Piece& piece = receive_.of(rank);
  note(take_block(block, piece));
  // Of its own block a process knows both sides, and the library calls less a mistake, too.
  if (rank == this->rank() && block.size() < piece.layout.packed_bytes) note(MPI_ERR_TRUNCATE);
}

}  // namespace resprout::shim
