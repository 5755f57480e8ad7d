// How many members come to a rendezvous: by records of groups, so that nobody looks at the slots of
// all (protocols/shared_slots). Whoever has looked at all slots of a group sums them, and the
// others read the sum.
//
// A record is a quicker way to what stands in the slots, and never more: where it is missing, or
// says something of another number of bytes, the slots are read.
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "mpi/carriers/shared_slots/communicator_slots.hpp"
#include "mpi/handles/datatypes/payload.hpp"

namespace resprout::shim {

// What is done with what members bring, of which each brings that layout; it is dense.
struct Summing {
  MPI_Op op;
  const Layout& layout;
};

// There is a record that spares the machine some looks, and it was told. REQUIRES: the machine
// looks.
bool maybe_take_record(CommunicatorSlots& shared_slots);
// Writes what the machine wants to be recorded, with the sum if there is one. REQUIRES: the machine
// is recording.
void write_record(CommunicatorSlots& shared_slots, const Summing* summing);
// Finds the areas of these members, whose slots are full or never will be.
void know_areas(CommunicatorSlots& shared_slots, int first, int end);
// The sum of what all have brought to a rendezvous that was read, in the grouping of reductions
// over trees. What the call returns.
int combine_groups(CommunicatorSlots& shared_slots, const protocols::SharedSlot& slot,
                   const Summing& summing, void* into);

// --- scans. REQUIRES, of all that follows: the machine is in one, and members are more than a
// group; or slot and bytes are of one.

// There is a record that spares the machine some looks, and it was told. REQUIRES: the machine
// looks.
bool maybe_take_prefix(CommunicatorSlots& shared_slots);
// The longest sum of so many bytes that there is of members below `end`, of whom it is, in `into`;
// 0: there is none.
int read_prefix(const CommunicatorSlots& shared_slots, const protocols::SharedSlot& slot, int end,
                std::span<std::byte> into);
// Writes the record of all up to that member, if there is to be one, unless somebody has begun to.
void write_prefix(const CommunicatorSlots& shared_slots, const protocols::SharedSlot& slot,
                  int member, std::span<const std::byte> sum);

}  // namespace resprout::shim
