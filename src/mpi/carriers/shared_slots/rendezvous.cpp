#include "mpi/carriers/shared_slots/rendezvous.hpp"

#include <algorithm>
#include <span>

#include "mpi/carriers/shared_slots/gathers.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/handles/communicators/communicator.hpp"

namespace resprout::shim {
namespace {

std::vector<std::byte> row_of_pieces(const std::vector<Piece>& pieces) {
  std::vector<std::byte> row;
  row.reserve(bytes_of(pieces));
  std::vector<std::byte> storage;
  for (const Piece& piece : pieces) {
    const auto elements = packed(piece.buffer, piece.layout, storage);
    row.insert(row.end(), elements.begin(), elements.end());
  }
  return row;
}

// The rank's part of a row with `bytes` for each of `ranks`. MPI_ERR_TRUNCATE: it is another row.
int take_part(std::span<const std::byte> row, int ranks, int rank, std::size_t bytes,
              const Piece& into) {
  if (row.size() != bytes * static_cast<std::size_t>(ranks)) return MPI_ERR_TRUNCATE;
  return take_block(row.subspan(bytes * static_cast<std::size_t>(rank), bytes), into);
}

// `row`: what the root gives to all, if this is it.
std::optional<int> scatter_in_broadcast(CollectiveCall& call, int root, std::size_t row_bytes,
                                        std::vector<std::byte> row, const Piece& into) {
  const bool is_right = call.rank() != root || row.size() == row_bytes;
  row.resize(row_bytes);
  int code = MPI_SUCCESS;
  const Layout layout = layout_of(MPI_BYTE, static_cast<std::int64_t>(row_bytes));
  if (!broadcast_by_shared_slots(call, row.data(), layout, root, code)) return std::nullopt;
  const bool is_wanted = into.layout.packed_bytes != 0 && code == MPI_SUCCESS;
  const std::size_t each = row_bytes / static_cast<std::size_t>(call.size());
  if (is_wanted) code = take_part(row, call.size(), call.rank(), each, into);
  return call.finish(delivered(), is_right ? code : MPI_ERR_TRUNCATE);
}

}  // namespace

std::optional<int> gather_in_rendezvous(CollectiveCall& call, Kind kind, std::size_t largest,
                                        const Piece& mine, const std::vector<Piece>& into,
                                        int except) {
  if (!goes_by_shared_slots(call, kind, largest)) return std::nullopt;
  std::vector<std::byte> storage;
  std::vector<Brought> all;
  auto code = meet_by_shared_slots(call, packed(mine.buffer, mine.layout, storage), all);
  if (!code) return std::nullopt;
  if (mine.layout.packed_bytes > largest) code = MPI_ERR_TRUNCATE;
  for (const auto& [rank, data] : all) {
    if (into.empty() || rank == except) continue;
    const int taken = take_block(data, into[static_cast<std::size_t>(rank)]);
    if (taken != MPI_SUCCESS) code = taken;
  }
  return call.finish(delivered(), *code);
}

std::optional<int> scatter_in_rendezvous(CollectiveCall& call, int root, std::size_t bytes,
                                         const std::vector<Piece>& row, const Piece& into) {
  const std::size_t row_bytes = bytes * static_cast<std::size_t>(call.size());
  if (!goes_by_shared_slots(call, Kind::scatter, row_bytes)) return std::nullopt;
  if (row_bytes <= runtime::SlotMemory::broadcast_bytes_max)
    return scatter_in_broadcast(call, root, row_bytes, row_of_pieces(row), into);
  std::vector<Brought> all;
  auto code = meet_by_shared_slots(call, row_of_pieces(row), all);
  if (!code) return std::nullopt;
  const auto of_root =
      std::find_if(all.begin(), all.end(), [root](const Brought& it) { return it.rank == root; });
  if (*code == MPI_SUCCESS) {
    if (of_root == all.end()) return std::nullopt;  // it is lost
    call.communicator().shared_slots->last.root = root;
    const bool is_wanted = into.layout.packed_bytes != 0;
    if (is_wanted) code = take_part(of_root->data, call.size(), call.rank(), bytes, into);
  }
  return call.finish(delivered(), *code);
}

std::optional<int> gather_small(CollectiveCall& call, std::size_t bytes, int root,
                                const Piece& mine, const std::vector<Piece>& into, int except) {
  if (!goes_by_shared_slots(call, Kind::gather, bytes)) return std::nullopt;
  const bool has_root = call.communicator().shared_slots->member(root) != no_rank;
  if (!has_root || !goes_by_gather(call, bytes))
    return gather_in_rendezvous(call, Kind::gather, bytes, mine, into, except);
  std::vector<std::byte> row = row_of_pieces({mine});
  const bool is_right = row.size() == bytes || except >= 0;
  row.resize(bytes);
  Given given;
  std::vector<Brought> all;
  runtime::Outcome outcome;
  auto code = gather_by_shared_slots(call, share_of_gather(call, root), row, given, all, outcome);
  if (!code) return std::nullopt;
  for (const auto& [rank, data] : all) {
    if (into.empty() || rank == except || *code != MPI_SUCCESS) continue;
    code = take_block(data, into[static_cast<std::size_t>(rank)]);
  }
  return call.finish(outcome, is_right ? *code : MPI_ERR_TRUNCATE);
}

std::optional<int> exchange_in_rendezvous(CollectiveCall& call, std::size_t bytes,
                                          const std::vector<Piece>& from,
                                          const std::vector<Piece>& into) {
  if (!goes_by_shared_slots(call, Kind::alltoall, bytes * static_cast<std::size_t>(call.size())))
    return std::nullopt;
  std::vector<Brought> all;
  auto code = meet_by_shared_slots(call, row_of_pieces(from), all);
  if (!code) return std::nullopt;
  for (const auto& [rank, data] : all) {
    const int taken =
        take_part(data, call.size(), call.rank(), bytes, into[static_cast<std::size_t>(rank)]);
    if (taken != MPI_SUCCESS) code = taken;
  }
  return call.finish(delivered(), *code);
}

}  // namespace resprout::shim
