// Exchanges whose ranks give each other as much as they like, of which no rank knows what the
// others give (MPI_Alltoallv, MPI_Alltoallw).
//
// A rendezvous to which each member brings a row: what it gives to each rank, and how much that is.
// Who gives too much for that says so instead; all read it, and the call is for another carrier, at
// all members alike (uneven.hpp).
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/handles/datatypes/pieces.hpp"

namespace resprout::shim {

// The row: the mark of uneven.hpp, then how many bytes each rank gets, then these, one behind the
// other. So much of it is ahead of what so many ranks get.
constexpr std::size_t bytes_ahead(int ranks) {
  return 1 + static_cast<std::size_t>(ranks) * sizeof(std::uint16_t);
}
// What a member brings, in `storage`: what it gives to each of so many ranks. `is_elsewhere`: the
// call is for another carrier.
std::span<const std::byte> row_of_given(const Pieces& given, int ranks, bool is_elsewhere,
                                        std::vector<std::byte>& storage);
// Writes where it belongs what each has given to rank `self` of so many. What the call returns.
// REQUIRES: are_shares_here(all).
int take_parts(std::span<const Brought> all, const Pieces& into, int self, int ranks);

// MPI_Alltoallv and MPI_Alltoallw. `from`: where what it gives is, also in place. What the call
// returns, or nothing: it is for somebody else to carry. REQUIRES: call.is_ours(); the arguments
// are valid.
std::optional<int> exchange_by_shared_slots(CollectiveCall& call, const Pieces& from,
                                            const Pieces& into);

}  // namespace resprout::shim
