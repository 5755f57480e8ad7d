// How a call goes over shared slots: what the sources of this folder share. They run the machine
// (protocols/shared_slots), move what it names, and wait.
//
// Thread rule: as MPI's collectives: one at a time on a communicator; without the engine's lock.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/shared_slots/communicator_slots.hpp"
#include "mpi/carriers/shared_slots/groups.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/world.hpp"
#include "protocols/shared_slots/shared_slots.hpp"
#include "runtime/slot_memory.hpp"

namespace resprout::shim {

// A rendezvous, or a broadcast of its own, is to be left. It has to be asked before each.
inline bool has_to_leave(const CommunicatorSlots& shared_slots) {
  return !shared_slots.takes_part() || has_lost_member(*shared_slots.members);
}

// Whether it is an operator of MPI's own, and not of the program.
bool is_predefined(MPI_Op op);
// What each of so many members puts into a rendezvous is not too much for those that look at it:
// all of them, but where groups sum it.
bool can_be_contribution(std::size_t bytes, int members, bool is_summed);

// The communicator, if nothing stands in the way of a call over its shared slots: no member lost,
// nothing revoked, nothing under way. Null: the call is not to be taken at the head of its wrapper.
Communicator* at_head(World* world, MPI_Comm comm);
bool is_free_at_head(const World& world, const Communicator& communicator);
// One more call of that name, for the report and for faults on purpose.
void count(World& world, Communicator& communicator, const char* name);
// A loss has fallen into the first call that misses a member; under --on-loss error into each.
runtime::Outcome outcome_of(CommunicatorSlots& shared_slots, const MemberSet& missing);
// Of a call at the head of its wrapper that is done. `code`: what it returns.
void finish_at_head(Communicator& communicator, MPI_Comm comm, const char* name,
                    const MemberSet& missing, int& code);
// The lock of the call is free, and what it has to do of its own was done.
CommunicatorSlots& crossing(CollectiveCall& call);
// Payloads of so many bytes have their slots where those of `bytes` have not.
constexpr std::size_t elsewhere(std::size_t bytes) {
  constexpr std::size_t narrow = runtime::SlotMemory::narrow_bytes;
  return bytes <= narrow ? narrow + 1 : narrow;
}

// What the awaited slot says, if its member's area is known. `bytes`: of a broadcast.
inline protocols::SlotWord look(const CommunicatorSlots& shared_slots, std::size_t bytes) {
  return shared_slots.slots.look(index(shared_slots.machine.awaited()), shared_slots.machine.slot(),
                                 bytes);
}
// Whoever waits looks so often before it drives the engine meanwhile.
class Looks {
 public:
  explicit Looks(World& world) : world_(world) {}
  // It has paused, and is to look again.
  bool go_on();

 private:
  World& world_;
  int count_ = 0;
};

// Looks at the awaited slot, and at whatever else may become of it. Under the engine's lock.
void look_once(CommunicatorSlots& shared_slots, const runtime::Session& session, std::size_t bytes);
// Waits for the awaited slot, which was not full.
void await(Communicator& communicator, std::size_t bytes);
// A member has gone on without this one: if it is past what this one waits for, all hear of it.
void give_up_rendezvous(Communicator& communicator);

// The same as await_all of a rendezvous whose members are in groups, and of a scan that may have
// records.
bool await_groups(Communicator& communicator, const Summing* summing);
bool await_prefix(Communicator& communicator, std::size_t bytes);
// True: what was awaited can be read. False: the shared slots are over. `summing`: of a rendezvous
// whose payloads are summed. REQUIRES: the machine looks.
inline bool await_all(Communicator& communicator, std::size_t bytes,
                      const Summing* summing = nullptr) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  if (shared_slots.machine.has_groups()) [[unlikely]]
    return await_groups(communicator, summing);
  do {
    if (look(shared_slots, bytes) == protocols::SlotWord::full) [[likely]]
      shared_slots.machine.handle_look(protocols::SlotWord::full, false);
    else
      await(communicator, bytes);
  } while (shared_slots.machine.step() == protocols::SharedSlots::Step::look);
  return shared_slots.machine.step() == protocols::SharedSlots::Step::read;
}

// What the machine wants to be written. False: that this member leaves, and the shared slots are
// over.
inline bool write(CommunicatorSlots& shared_slots, const void* payload, std::size_t bytes) {
  const protocols::SlotWrite wanted = shared_slots.machine.poll_write();
  if (!shared_slots.takes_part()) [[unlikely]] {
    shared_slots.machine.end();
    return false;
  }
  if (wanted.word == protocols::SlotWord::left) {
    shared_slots.slots.leave(wanted.slot, bytes);
    return false;
  }
  shared_slots.slots.write(wanted.slot, payload, bytes);
  return true;
}

// The rendezvous that the machine has started.
inline bool meet(Communicator& communicator) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  if (!write(shared_slots, nullptr, 0) || !await_all(communicator, 0)) return false;
  shared_slots.machine.poll_read();
  return true;
}

// The last call on the communicator went over shared slots. `root`: if it was a broadcast, else -1.
inline void note_last(Communicator& communicator, int root) {
  communicator.last = nullptr;
  communicator.shared_slots->last.root = root;
  communicator.shared_slots->missing.in_last.reset();
}

// The rendezvous of a call that can do without some. REQUIRES: it does at all members.
inline void start_bearing_rendezvous(CommunicatorSlots& shared_slots) {
  shared_slots.missing.seen_ns = 0;
  if (shared_slots.bears_losses)
    shared_slots.machine.start_bearing_rendezvous();
  else
    shared_slots.machine.start_rendezvous(has_to_leave(shared_slots));
}
// Of a rendezvous that is short, and that was read: who has written nothing.
MemberSet missing_in(CommunicatorSlots& shared_slots, const protocols::SharedSlot& slot);
// What that rendezvous comes to, which has to be the last call. False: the shared slots are over.
inline bool meet_bearing(Communicator& communicator) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  if (!write(shared_slots, nullptr, 0) || !await_all(communicator, 0)) return false;
  const bool is_short = shared_slots.machine.is_short();
  const protocols::SharedSlot slot = shared_slots.machine.poll_read();
  note_last(communicator, -1);
  if (is_short) [[unlikely]]
    shared_slots.missing.in_last = missing_in(shared_slots, slot);
  return true;
}

// Behind a broadcast or a gather, which is done even where the rendezvous that is due behind it is
// over.
inline void end_broadcast(Communicator& communicator, int root) {
  note_last(communicator, root);
  if (communicator.shared_slots->machine.step() != protocols::SharedSlots::Step::none) [[unlikely]]
    meet(communicator);
}

// What the root has put into a broadcast that can be read; `into` has room for `bytes`. How many
// there are: none is copied where these are more.
std::size_t read_other(const runtime::SlotMemory& slots, int root,
                       const protocols::SharedSlot& slot, void* into, std::size_t bytes);
inline std::size_t read(const CommunicatorSlots& shared_slots, int root,
                        const protocols::SharedSlot& slot, void* into, std::size_t bytes) {
  if (shared_slots.slots.bytes_of(root, slot, bytes) != bytes) [[unlikely]]
    return read_other(shared_slots.slots, root, slot, into, bytes);
  shared_slots.slots.read(root, slot, into, bytes);
  return bytes;
}

// A broadcast. `bytes`: there is room for these, or the root gives them; what the root has given,
// and nothing is copied where that is more. False: the shared slots are over.
inline bool run_broadcast(Communicator& communicator, int root, Rank root_member, bool leaves,
                          void* buffer, std::size_t& bytes) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  shared_slots.machine.start_broadcast(root_member, leaves);
  if (shared_slots.machine.step() == protocols::SharedSlots::Step::write) {
    if (!write(shared_slots, buffer, bytes)) return false;
  } else {
    if (!await_all(communicator, bytes)) return false;
    bytes = read(shared_slots, index(root_member), shared_slots.machine.poll_read(), buffer, bytes);
  }
  end_broadcast(communicator, root);
  return true;
}

}  // namespace resprout::shim
