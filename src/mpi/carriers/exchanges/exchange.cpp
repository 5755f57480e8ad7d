#include "mpi/carriers/exchanges/exchange.hpp"

#include "mpi/carriers/specs.hpp"
#include "mpi/handles/errors/codes.hpp"

namespace resprout::shim {
namespace {

// How much everybody may get, counting what is for others.
constexpr std::size_t at_once_bytes_max = std::size_t{1} << 20;

// REQUIRES: they are dense.
std::span<const std::byte> elements_at(const Piece& piece) {
  return {reinterpret_cast<const std::byte*>(piece.buffer), piece.layout.packed_bytes};
}

}  // namespace

void BlockExchange::give(runtime::Buffer row) {
  packed_ = std::move(row);
  given_.assign(static_cast<std::size_t>(size()), {});
  runtime::BlockReader reader(packed_.view());
  while (const auto block = reader.next())
    given_[static_cast<std::size_t>(block->rank)] = block->data;
}

std::size_t BlockExchange::row_bytes() const {
  std::size_t bytes = 0;
  for (const auto& block : given_) bytes += runtime::block_bytes(block.size());
  return bytes;
}

void BlockExchange::begin(runtime::Started& started) {
  const std::uint64_t mine = row_bytes();
  if (is_even_)
    begin_exchange(started, mine * static_cast<std::size_t>(size()));
  else
    allgather(started, std::as_bytes(std::span(&mine, 1)));
}

void BlockExchange::begin_exchange(runtime::Started& started, std::size_t bytes) {
  if (bytes <= at_once_bytes_max) {
    stage_ = Stage::at_once;
    allgather_all(started);
  } else if (session().is_on_one_host()) {
    offer(started);
  } else {
    begin_by_receiver(started);
  }
}

void BlockExchange::begin_by_receiver(runtime::Started& started) {
  stage_ = Stage::by_receiver;
  gather_for_receiver(started);
}

bool BlockExchange::is_ready(runtime::Started& started) {
  if (stage_ != Stage::reading) return true;
  if (!offered_.read_some()) return false;
  end_reading(started);
  return true;
}

bool BlockExchange::go_on(runtime::Started& started, const runtime::Outcome& last) {
  if (!last.is_delivered || last.is_mismatched || code_ != MPI_SUCCESS) {
    offered_.take_back();
    return false;
  }
  switch (stage_) {
    case Stage::measuring:
      begin_exchange(started, sum_);
      return true;
    case Stage::at_once:
      return false;
    case Stage::offering:
      if (offered_.are_refused()) {
        begin_by_receiver(started);
      } else {
        stage_ = Stage::reading;
        are_read_ = true;
        offered_.begin_reading();
      }
      return true;
    case Stage::reading:  // that is no operation
      return true;
    case Stage::by_receiver:
      ++receiver_;
      if (receiver_ < size())
        gather_for_receiver(started);
      else
        agree_on_who_counts(started);
      return true;
    case Stage::agreeing:
      offered_.take_back();
      if (are_read_ && offered_.are_refused()) {
        are_read_ = false;
        begin_by_receiver(started);
        return true;
      }
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
    case Stage::offering:
      while (const auto told = reader.next())
        if (!offered_.take_offer(told->rank, rank(), size(), told->data))
          return note(MPI_ERR_TRUNCATE);
      break;
    case Stage::reading:
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

void BlockExchange::allgather_all(runtime::Started& started) {
  const std::size_t bytes = row_bytes();
  runtime::Buffer row = session().allocate(runtime::block_bytes(bytes));
  runtime::BlockWriter writer(
      runtime::BlockWriter({row.data(), row.size()}).begin(rank(), bytes, takes_all_));
  for (int r = 0; r < size(); ++r) writer.put(r, given_[static_cast<std::size_t>(r)]);
  started.allgather(concatenation_spec(session()), std::move(row));
}

void BlockExchange::offer(runtime::Started& started) {
  stage_ = Stage::offering;
  allgather(started, offered_.offer(given_));
}

// One that may not read what others offer has a list of its own: a rank that nobody has.
void BlockExchange::end_reading(runtime::Started& started) {
  stage_ = Stage::agreeing;
  std::vector<int> lacking;
  for (int r = 0; r < size(); ++r)
    if (r != rank() && !offered_.has_read(r)) lacking.push_back(r);
  if (offered_.are_refused()) lacking.assign(1, size());
  allgather(started, std::as_bytes(std::span(lacking)));
}

// Somebody who dies meanwhile may have given to some and not to others: what counts is agreed upon
// in the end.
void BlockExchange::gather_for_receiver(runtime::Started& started) {
  const auto piece = given_[static_cast<std::size_t>(receiver_)];
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
    if (r == size() && are_read_) return offered_.refuse();
    if (r < 0 || r >= size()) return note(MPI_ERR_TRUNCATE);
    counts_[static_cast<std::size_t>(r)] = false;
  }
}

void BlockExchange::take_what_counts() {
  const auto counts = [this](int from) { return counts_[static_cast<std::size_t>(from)]; };
  if (are_read_) {
    offered_.for_each_read([&](int from, std::span<const std::byte> block) {
      if (counts(from)) take_from(from, block);
    });
    if (counts(rank())) take_from(rank(), given_[static_cast<std::size_t>(rank())]);
    return;
  }
  runtime::BlockReader reader(blocks_);
  while (const auto block = reader.next())
    if (counts(block->rank)) take_from(block->rank, block->data);
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
  if (send_.are_dense()) {
    std::vector<std::span<const std::byte>> blocks;
    for (int r = 0; r < size(); ++r) blocks.push_back(elements_at(send_.of(r)));
    give(std::move(blocks));
  } else {
    std::size_t bytes = 0;
    for (int r = 0; r < size(); ++r) bytes += send_.of(r).block_bytes();
    runtime::Buffer row(bytes);
    runtime::BlockWriter writer({row.data(), row.size()});
    for (int r = 0; r < size(); ++r) put_piece(writer, r, send_.of(r));
    give(std::move(row));
  }
  if (!receive_.are_dense()) leave_mpi_to_program();
}

void Exchange::take_from(int rank, std::span<const std::byte> block) {
  const Piece& piece = receive_.of(rank);
  const bool is_in_place = block.data() == reinterpret_cast<const std::byte*>(piece.buffer);
  if (!is_in_place) note(take_block(block, piece));
  // Of its own block a process knows both sides, and the library calls less a mistake, too.
  if (rank == this->rank() && block.size() < piece.layout.packed_bytes) note(MPI_ERR_TRUNCATE);
}

}  // namespace resprout::shim
