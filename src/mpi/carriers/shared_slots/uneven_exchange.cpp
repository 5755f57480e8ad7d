#include "mpi/carriers/shared_slots/uneven_exchange.hpp"

#include <cstring>
#include <optional>

#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/carriers/shared_slots/uneven.hpp"

namespace resprout::shim {
namespace {

using Length = std::uint16_t;

// Where much was exchanged the next time will mostly be the same, and the question costs a
// rendezvous. All members count alike.
constexpr int untried_after_much = 7;

Length length_in(std::span<const std::byte> row, int rank) {
  Length bytes = 0;
  std::memcpy(&bytes, row.data() + bytes_ahead(rank), sizeof bytes);
  return bytes;
}

// Nothing: it is no row of so many ranks, by a mistake of the program.
std::optional<std::span<const std::byte>> part_for(std::span<const std::byte> row, int rank,
                                                   int ranks) {
  std::size_t at = bytes_ahead(ranks);
  if (row.size() < at) return std::nullopt;
  for (int before = 0; before < rank; ++before) at += length_in(row, before);
  const std::size_t bytes = length_in(row, rank);
  if (at + bytes > row.size()) return std::nullopt;
  return row.subspan(at, bytes);
}

// False: they are too many for a row.
bool put_all(const std::vector<Piece>& pieces, std::vector<std::byte>& row) {
  const int ranks = static_cast<int>(pieces.size());
  const std::size_t head = bytes_ahead(ranks);
  const std::size_t bytes = bytes_of(pieces);
  if (bytes > runtime::SlotMemory::rendezvous_bytes_max ||
      !can_be_contribution(head + bytes, ranks, false))
    return false;
  row.resize(head + bytes);
  row[0] = is_here_mark;
  std::byte* into = row.data() + head;
  std::vector<std::byte> storage;
  for (int rank = 0; rank < ranks; ++rank) {
    const Piece& piece = pieces[static_cast<std::size_t>(rank)];
    const auto length = static_cast<Length>(piece.layout.packed_bytes);
    std::memcpy(row.data() + bytes_ahead(rank), &length, sizeof length);
    if (length == 0) continue;
    std::memcpy(into, packed(piece.buffer, piece.layout, storage).data(), length);
    into += length;
  }
  return true;
}

}  // namespace

std::span<const std::byte> row_of_given(const Pieces& given, int ranks, bool is_elsewhere,
                                        std::vector<std::byte>& storage) {
  if (is_elsewhere || !put_all(given.all(ranks), storage)) storage.assign(1, is_elsewhere_mark);
  return storage;
}

// Of its own block a process knows both sides: there less is a mistake, too, as in the library.
int take_parts(std::span<const Brought> all, const Pieces& into, int self, int ranks) {
  int code = MPI_SUCCESS;
  for (const auto& [rank, row] : all) {
    const Piece piece = into.of(rank);
    const auto part = part_for(row, self, ranks);
    const bool is_short = rank == self && part && part->size() < piece.layout.packed_bytes;
    const int taken = part && !is_short ? take_block(*part, piece) : MPI_ERR_TRUNCATE;
    if (taken != MPI_SUCCESS) code = taken;
  }
  return code;
}

std::optional<int> exchange_by_shared_slots(CollectiveCall& call, const Pieces& from,
                                            const Pieces& into) {
  const runtime::Session& session = call.session();
  const int ranks = call.size();
  if (!goes_by_shared_slots(call, Kind::alltoall, bytes_ahead(ranks))) return std::nullopt;
  int& elsewhere = call.communicator().shared_slots->last.exchanges_elsewhere;
  if (elsewhere > 0) {
    --elsewhere;
    return std::nullopt;
  }
  const bool is_unknown = from.depend_on_lost(session) || into.depend_on_lost(session);
  std::vector<std::byte> storage;
  std::vector<Brought> all;
  const auto row = row_of_given(from.among(session), ranks, is_unknown, storage);
  const auto code = meet_by_shared_slots(call, row, all);
  if (!code) return std::nullopt;
  if (*code != MPI_SUCCESS || all.empty()) return call.finish(delivered(), *code);
  if (!are_shares_here(all)) {
    elsewhere = untried_after_much;
    return for_another(call);
  }
  return call.finish(delivered(), take_parts(all, into.among(session), call.rank(), ranks));
}

}  // namespace resprout::shim
