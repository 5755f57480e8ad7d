// A pool of communicators of the MPI library's: duplicates of MPI_COMM_WORLD, to carry the messages
// of communicators that are made after a loss, each with a duplicate of MPI_COMM_SELF, to be the
// handle that the program has.
//
// MPI_Init makes them, because afterwards it may be too late: a loss that falls into the making of
// a communicator can end its members or keep them for ever, also in making all later ones
// (docs/reference/open-mpi.md). A carrier has the same number in all processes, and carries one
// communicator of a process at a time. When that ends after a loss or a revocation, messages may be
// left in the carrier, or on their way; before it is used again they are drained (`drain`), by all
// who may have sent them.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "runtime/session.hpp"

namespace resprout::shim {

inline constexpr int carriers_max = 32;

// REQUIRES: in MPI_Init, on all ranks.
void open_carrier_pool();
void close_carrier_pool();

MPI_Comm carrier(int pool_index);
MPI_Comm handle_of(int pool_index);

// What MPI has returned for making a communicator is no mistake of the program's.
bool has_met_loss(int code);
// A loss fell into the making of a communicator: MPI may never make another one.
void note_broken_making();
// MPI can make communicators: nobody is lost, as far as this process knows, and nothing broke.
bool may_mpi_make_any();

// One bit for each carrier: what a process says of them to the members of a session, and the OR of
// what all say.
struct CarrierWords {
  std::uint64_t unusable = 0;
  std::uint64_t unclean = 0;  // to be drained first
};
CarrierWords carriers_for(const runtime::Session& session);
// The best one; -1: there is none.
int choose_carrier(const CarrierWords& all);

// False: it is in use.
bool reserve_carrier(int pool_index);
// Reserved, but not needed.
void give_back_carrier(int pool_index);

enum class Leaving {
  clean,    // all parted, nothing is left in it
  unclean,  // there may be messages of its members
  broken,   // MPI itself still waits for something in it: it is not used again
};
// `world_ranks`: of the members of the communicator that it carried.
void leave_carrier(int pool_index, const std::vector<int>& world_ranks, Leaving how);

// Receives whatever the members of the session have sent in it. False: somebody was lost meanwhile,
// and it is broken. Collective over the members. REQUIRES: reserved; the lock is not held.
bool drain(int pool_index, const runtime::Session& session);
// What came of a drain of it that was not waited for (drain.hpp).
void note_drained(int pool_index, bool is_clean);

}  // namespace resprout::shim
