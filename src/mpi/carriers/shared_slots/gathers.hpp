// Small calls whose payloads some members read on demand: gathers, reductions to a root, scans.
//
// Each member writes what it gives into a slot, and need not wait for the others; who gets
// something waits for the slots that it reads. What a lost member has not written is missing, in
// what all others get alike (protocols/shared_slots).
//
// Two ways in, as of shared_slots.hpp. Whether a call goes this way is the same at all members.
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/handles/operators/reduction.hpp"

namespace resprout::shim {

// What one member does in such a call. Numbers are those of members of the shared slots.
struct Share {
  int end;                 // it reads what the members below this one give, itself among them
  bool gives;              // others read what it gives
  bool is_prefix = false;  // of many members of a scan: there may be records (groups.hpp)
};
Share share_to(const CommunicatorSlots& shared_slots, Rank root);
Share share_of_prefix(const CommunicatorSlots& shared_slots, bool is_inclusive);
// To a root, and of a member of a scan. REQUIRES: goes_by_shared_slots.
Share share_of_gather(const CollectiveCall& call, int root);
Share share_of_scan(const CollectiveCall& call, bool is_inclusive);

// What a member has read: the payloads of those who gave one, the lowest first. Of a scan with
// records the first one may be the sum of all up to its member.
struct Given {
  static constexpr std::size_t bytes_each = 128;
  static constexpr std::size_t members_max = runtime::SlotPool::members_max;

  std::span<std::byte> of(int place) {
    return {memory.data() + static_cast<std::size_t>(place) * bytes_each, bytes};
  }
  std::span<const std::byte> of(int place) const {
    return {memory.data() + static_cast<std::size_t>(place) * bytes_each, bytes};
  }

  alignas(64) std::array<std::byte, members_max * bytes_each> memory;
  std::array<MemberByte, members_max> members;  // by place
  std::size_t bytes = 0;                        // of each payload
  protocols::SharedSlot slot{};                 // where they were read
  int count = 0;
  MemberSet missing;  // those that should have given one and have ended
  bool fits = true;   // nobody has given more or less than this
};

// What the members from `first` to below `end` have put into the slots that can be read, and what
// this one gives. REQUIRES: given.bytes says of how many bytes each is to be.
void take_given(const CommunicatorSlots& shared_slots, const protocols::SharedSlot& slot, int first,
                int end, const void* mine, Given& given);

// Whether a call to which each member gives so many bytes goes this way.
bool can_gather(const CommunicatorSlots& shared_slots, std::size_t bytes);
// The same. REQUIRES: goes_by_shared_slots.
bool goes_by_gather(const CollectiveCall& call, std::size_t bytes);
// What the call returns, with what is in it in `all`, in the order of ranks; these are in `given`.
// Nothing: the shared slots are over. `outcome`: as the call is to finish with. REQUIRES:
// goes_by_gather.
std::optional<int> gather_by_shared_slots(CollectiveCall& call, const Share& share,
                                          std::span<const std::byte> mine, Given& given,
                                          std::vector<Brought>& all, runtime::Outcome& outcome);
// What the call returns, or nothing: it is for somebody else to carry. REQUIRES: call.is_ours().
std::optional<int> reduce_by_shared_slots(CollectiveCall& call, const Reduction& reduction,
                                          const void* sendbuf, void* recvbuf, int root);

// At the head of a wrapper, with valid arguments: `code` is what the call returns once it is done.
Taken maybe_gather_by_shared_slots(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, int& code);
Taken maybe_reduce_by_shared_slots(const void* sendbuf, void* recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                   int& code);
Taken maybe_scan_by_shared_slots(const void* sendbuf, void* recvbuf, int count,
                                 MPI_Datatype datatype, MPI_Op op, bool is_inclusive, MPI_Comm comm,
                                 int& code);

}  // namespace resprout::shim
