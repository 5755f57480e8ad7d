// Scatters and gathers whose ranks need not know of each other's counts (MPI_Scatterv,
// MPI_Gatherv).
//
// A scatter is a broadcast over shared slots of a row that says, too, who gets how much. A gather
// is a rendezvous to which each member brings what it gives. Where something is too long, or the
// root cannot say what is whose, its owner says that instead; all read it, and the call is for
// another carrier, at all members alike.
//
// Ways in as of shared_slots.hpp. Thread rule: as MPI's collectives: one at a time on a
// communicator.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/handles/datatypes/pieces.hpp"

namespace resprout::shim {

// The first byte of what is said.
inline constexpr std::byte is_here_mark{1};
inline constexpr std::byte is_elsewhere_mark{0};

// What a call returns that shared slots have found to be for another carrier.
std::nullopt_t for_another(CollectiveCall& call);

// The payload of a scatter's broadcast: a byte that is 1 if the rest is there, then for each rank
// how many bytes it gets, then these, one behind the other.
class UnevenRow {
 public:
  static constexpr std::size_t bytes_max = runtime::SlotMemory::broadcast_bytes_max;
  // There may be something for one of so many ranks.
  static constexpr bool has_room_for(int ranks) {
    return 1 + static_cast<std::size_t>(ranks) < bytes_max;
  }

  // The root's. REQUIRES: `all` is significant, and valid for so many ranks.
  UnevenRow(const runtime::Session& session, const Pieces& all);
  // What another one has got of it. REQUIRES: not more than `bytes_max`.
  explicit UnevenRow(std::span<const std::byte> payload);
  UnevenRow() = default;

  std::byte* data() { return memory_.data(); }
  std::size_t size() const { return size_; }
  void set_size(std::size_t size) { size_ = size; }  // others are in `data` now
  std::span<const std::byte> view() const { return {memory_.data(), size_}; }

  // False: it is for another carrier.
  bool is_here() const { return size_ != 0 && memory_[0] == is_here_mark; }
  // Nothing: it is no row of so many ranks, by a mistake of the program. REQUIRES: is_here().
  std::optional<std::span<const std::byte>> of(int rank, int ranks) const;

 private:
  void put(const Pieces& all, int ranks);

  std::array<std::byte, bytes_max> memory_;
  std::size_t size_ = 0;
};

// At the head of MPI_Scatterv. `over`: also where the call is for another carrier.
Taken maybe_scatterv_by_shared_slots(const Pieces& all, void* recvbuf, int recvcount,
                                     MPI_Datatype recvtype, int root, MPI_Comm comm, int& code);
// `into`: null in place. What the call returns, or nothing: it is for somebody else to carry.
// REQUIRES: call.is_ours(); the arguments are valid.
std::optional<int> scatterv_by_shared_slots(CollectiveCall& call, const Pieces& all, int root,
                                            const Piece* into);

// What a member brings to a gather, in `storage`. `is_elsewhere`: the call is for another carrier.
std::span<const std::byte> uneven_share(const Piece& mine, bool is_elsewhere,
                                        std::vector<std::byte>& storage);
// All have brought what they give; else the call is for another carrier.
bool are_shares_here(std::span<const Brought> all);
// Writes where it belongs what each has given, but for `except`. REQUIRES: are_shares_here(all).
int take_shares(std::span<const Brought> all, const Pieces& into, int except);

// MPI_Gatherv. `mine`: what this member gives, nothing in place. As of the above.
std::optional<int> gatherv_by_shared_slots(CollectiveCall& call, const Piece& mine,
                                           const Pieces& into, int root, bool is_in_place);

}  // namespace resprout::shim
