// How a call goes over lanes: what the sources of this folder share. They run the machine
// (protocols/lanes), move what it names, and wait.
//
// Thread rule: as MPI's collectives: one at a time on a communicator; without the engine's lock.
#pragma once

#include <mpi.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/lanes/communicator_lanes.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/world.hpp"
#include "protocols/lanes/lanes.hpp"
#include "runtime/lane_memory.hpp"

namespace resprout::shim {

// A meeting, or a broadcast of its own, is to be left. It has to be asked before each.
inline bool has_to_leave(const CommunicatorLanes& lanes) {
  return !lanes.takes_part() || has_lost_member(*lanes.members);
}

// Whether it is an operator of MPI's own, and not of the program.
bool is_predefined(MPI_Op op);
// Each of so many members looks at what all others have put into a meeting: not too much.
bool can_be_contribution(std::size_t bytes, int members);

// The communicator, if nothing stands in the way of a call over its lanes: no member lost, nothing
// revoked, nothing under way. Null: the call is not to be taken at the head of its wrapper.
Communicator* at_head(World* world, MPI_Comm comm);
// One more call of that name, for the report and for faults on purpose.
void count(World& world, Communicator& communicator, const char* name);
// The lock of the call is free, and what it has to do of its own was done.
CommunicatorLanes& crossing(CollectiveCall& call);
// Payloads of so many bytes have their slots where those of `bytes` have not.
constexpr std::size_t elsewhere(std::size_t bytes) {
  constexpr std::size_t narrow = runtime::LaneMemory::narrow_bytes;
  return bytes <= narrow ? narrow + 1 : narrow;
}

// What the awaited slot says, if its member's area is known. `bytes`: of a broadcast.
inline protocols::LaneWord look(const CommunicatorLanes& lanes, std::size_t bytes) {
  return lanes.slots.look(index(lanes.machine.awaited()), lanes.machine.slot(), bytes);
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
void look_once(CommunicatorLanes& lanes, const runtime::Session& session, std::size_t bytes);
// Waits for the awaited slot, which was not full.
void await(Communicator& communicator, std::size_t bytes);
// A member has gone on without this one: if it is past what this one waits for, all hear of it.
void give_up_meeting(Communicator& communicator);

// True: what was awaited can be read. False: the lanes are over. REQUIRES: the machine looks.
inline bool await_all(Communicator& communicator, std::size_t bytes) {
  CommunicatorLanes& lanes = *communicator.lanes;
  do {
    if (look(lanes, bytes) == protocols::LaneWord::full) [[likely]]
      lanes.machine.handle_look(protocols::LaneWord::full, false);
    else
      await(communicator, bytes);
  } while (lanes.machine.step() == protocols::Lanes::Step::look);
  return lanes.machine.step() == protocols::Lanes::Step::read;
}

// What the machine wants to be written. False: that this member leaves, and the lanes are over.
inline bool write(CommunicatorLanes& lanes, const void* payload, std::size_t bytes) {
  const protocols::LaneWrite wanted = lanes.machine.poll_write();
  if (!lanes.takes_part()) [[unlikely]] {
    lanes.machine.end();
    return false;
  }
  if (wanted.word == protocols::LaneWord::left) {
    lanes.slots.leave(wanted.slot, bytes);
    return false;
  }
  lanes.slots.write(wanted.slot, payload, bytes);
  return true;
}

// The meeting that the machine has started.
inline bool meet(Communicator& communicator) {
  CommunicatorLanes& lanes = *communicator.lanes;
  if (!write(lanes, nullptr, 0) || !await_all(communicator, 0)) return false;
  lanes.machine.poll_read();
  return true;
}

// The last call on the communicator went over lanes. `root`: if it was a broadcast, else -1.
inline void note_last(Communicator& communicator, int root) {
  communicator.last = nullptr;
  communicator.lanes->last_root = root;
  communicator.lanes->missing.in_last = 0;
}

// Behind a broadcast or a gather, which is done even where the meeting that is due behind it is
// over.
inline void end_broadcast(Communicator& communicator, int root) {
  note_last(communicator, root);
  if (communicator.lanes->machine.step() != protocols::Lanes::Step::none) [[unlikely]]
    meet(communicator);
}

// Of `count` members from `first` on, in the grouping of the binomial tree over all, as reductions
// of ours have it: partial results of 1, 2, 4, ... members. `all.of(i)`: what each has given.
// REQUIRES: `into` is none of these.
template <typename Contributions>
void combine(const Contributions& all, int first, int count, MpiCombiner& combiner,
             std::span<std::byte> into) {
  if (count == 1) {
    std::memcpy(into.data(), all.of(first).data(), all.bytes);
    return;
  }
  const int lower = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
  combine(all, first + lower, count - lower, combiner, into);
  if (lower == 1) {
    combiner.combine(all.of(first), into);
    return;
  }
  alignas(64) std::array<std::byte, runtime::LaneMemory::meeting_bytes_max> storage;
  const std::span partial(storage.data(), all.bytes);
  combine(all, first, lower, combiner, partial);
  combiner.combine(partial, into);
}

}  // namespace resprout::shim
