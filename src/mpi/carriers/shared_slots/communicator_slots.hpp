// The shared slots of one communicator: who takes part, whose memory they are in, and whether they
// are wanted for a kind of call.
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <bitset>
#include <cstddef>
#include <cstdint>

#include "mpi/process/calibration.hpp"
#include "protocols/shared_slots/shared_slots.hpp"
#include "runtime/slot_memory.hpp"
#include "runtime/slot_pool.hpp"

namespace resprout::runtime {
class Session;
}

namespace resprout::shim {

struct Communicator;

using MemberSet = std::bitset<runtime::SlotPool::members_max>;
// A member of shared slots in one byte.
using MemberByte = std::uint8_t;
static_assert(runtime::SlotPool::members_max <= 256);

// Whom gathers and rendezvous that bear losses have left out.
struct MissingMembers {
  MemberSet in_last;  // of the last result here
  MemberSet in_any;
  std::int64_t seen_ns = 0;  // when the last call that waited knew of a loss; 0: it did not
};

// What the calls so far mean for what is asked, or tried, next.
struct LastCalls {
  int root = -1;  // of the last that they carried, if it was a broadcast; in the communicator
  int exchanges_elsewhere = 0;  // so many uneven ones more are not tried (uneven_exchange.hpp)
};

struct CommunicatorSlots {
  // REQUIRES: can_have_shared_slots(communicator).
  explicit CommunicatorSlots(const Communicator& communicator);
  ~CommunicatorSlots();
  CommunicatorSlots(const CommunicatorSlots&) = delete;
  CommunicatorSlots& operator=(const CommunicatorSlots&) = delete;

  // Else it leaves at the first slot that it would have to write.
  bool takes_part() const { return ticket.area.has_value(); }
  // Of a rank of the communicator; no_rank: it has no part in them.
  Rank member(int comm_rank) const {
    if (!is_whole) return members->index_of_comm_rank(comm_rank);
    return comm_rank >= 0 && comm_rank < slots.size() ? rank_at(comm_rank) : no_rank;
  }

  const runtime::SlotPool::MembersPtr members;  // who takes part
  const bool is_whole;                          // the whole communicator
  const std::uint64_t name;
  const runtime::SlotPool::Ticket ticket;
  runtime::SlotMemory slots;
  protocols::SharedSlots machine;
  bool is_passed_by = false;        // over, as a member has gone on without it
  bool carries_broadcasts = false;  // and so on: nobody has said how they are to be carried
  bool carries_reductions = false;
  bool carries_scatters = false;
  bool carries_gathers = false;  // whose payloads are read on demand (gathers.hpp)
  bool bears_losses = false;     // in a rendezvous, where the caller can do without some
  LastCalls last;
  MissingMembers missing;
  int losses = -1;  // so many has the world had, and no member of these among them
};

// The same answer at all members. REQUIRES: it has a session.
bool can_have_shared_slots(const Communicator& communicator);
// They may carry something on it, if not now then later. The same answer at all members, and at all
// times. REQUIRES: it has a session.
bool may_come_to_shared_slots(const Communicator& communicator);
// Nothing is called on it any more.
void leave_shared_slots(Communicator& communicator);
// Whether the program and its options leave calls of that kind to shared slots. REQUIRES, and of
// what follows: it has a session.
bool are_wanted(const Communicator& communicator, Kind kind);
bool has_lost_member(const runtime::Members& members);
// Shared slots carry calls of that kind, and are there. Whether the library may still carry
// anything is not asked: a member that was interrupted in one of its calls knows more of that than
// one that was through before. What the slots say all know. The same answer at all members.
// REQUIRES: no tasks go before the call.
bool open_shared_slots(Communicator& communicator, Kind kind);
// They are of its session's members, who only ever become fewer. That somebody was left out may be
// known, from a result, before that he is lost. REQUIRES: no tasks.
bool has_current_shared_slots(const Communicator& communicator);

}  // namespace resprout::shim
