#include "mpi/carriers/lanes/meeting.hpp"

#include <algorithm>
#include <span>

#include "mpi/carriers/lanes/lanes.hpp"
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

}  // namespace

std::optional<int> gather_in_meeting(CollectiveCall& call, Kind kind, std::size_t largest,
                                     const Piece& mine, const std::vector<Piece>& into,
                                     int except) {
  if (!goes_by_lanes(call, kind, largest)) return std::nullopt;
  std::vector<std::byte> storage;
  std::vector<Brought> all;
  auto code = meet_by_lanes(call, packed(mine.buffer, mine.layout, storage), all);
  if (!code) return std::nullopt;
  if (mine.layout.packed_bytes > largest) code = MPI_ERR_TRUNCATE;
  for (const auto& [rank, data] : all) {
    if (into.empty() || rank == except) continue;
    const int taken = take_block(data, into[static_cast<std::size_t>(rank)]);
    if (taken != MPI_SUCCESS) code = taken;
  }
  return call.finish(delivered(), *code);
}

std::optional<int> scatter_in_meeting(CollectiveCall& call, int root, std::size_t bytes,
                                      const std::vector<Piece>& row, const Piece& into) {
  if (!goes_by_lanes(call, Kind::scatter, bytes * static_cast<std::size_t>(call.size())))
    return std::nullopt;
  std::vector<Brought> all;
  auto code = meet_by_lanes(call, row_of_pieces(row), all);
  if (!code) return std::nullopt;
  const auto of_root =
      std::find_if(all.begin(), all.end(), [root](const Brought& it) { return it.rank == root; });
  if (*code == MPI_SUCCESS) {
    if (of_root == all.end()) return std::nullopt;  // it is lost
    call.communicator().lanes->last_root = root;
    const bool is_wanted = into.layout.packed_bytes != 0;
    if (is_wanted) code = take_part(of_root->data, call.size(), call.rank(), bytes, into);
  }
  return call.finish(delivered(), *code);
}

std::optional<int> exchange_in_meeting(CollectiveCall& call, std::size_t bytes,
                                       const std::vector<Piece>& from,
                                       const std::vector<Piece>& into) {
  if (!goes_by_lanes(call, Kind::alltoall, bytes * static_cast<std::size_t>(call.size())))
    return std::nullopt;
  std::vector<Brought> all;
  auto code = meet_by_lanes(call, row_of_pieces(from), all);
  if (!code) return std::nullopt;
  for (const auto& [rank, data] : all) {
    const int taken =
        take_part(data, call.size(), call.rank(), bytes, into[static_cast<std::size_t>(rank)]);
    if (taken != MPI_SUCCESS) code = taken;
  }
  return call.finish(delivered(), *code);
}

}  // namespace resprout::shim
