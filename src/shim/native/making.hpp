// While the MPI library makes a communicator.
//
// Open MPI 5.0 puts a new communicator into its table before it is set up, and makes progress
// meanwhile. If it hears of a loss there, `ompi_comm_revoke_local` is to end the collectives of all
// communicators in the table that have lost a member, and uses what the new one does not have yet:
// a segmentation fault. So that function goes through here: while any is being made, it leaves
// alone those that nobody has said to be made, and does its work on them when they are.
//
// It gives a communicator its number in turns: that of the parent with the lowest number comes
// first, and whoever makes one of another parent waits. A making that ends with an error may keep
// its turn, and all others wait for ever. So who has met one makes a communicator of its own
// process, which comes before all others, has nobody to wait for, and does give up the turn.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// The communicator is whole; it goes.
void note_made(MPI_Comm comm);
void note_gone(MPI_Comm comm);

// One that the library was making ended with an error here.
void end_turn();

// Some thread of the program has the library make a communicator while one of these lives.
class Making {
 public:
  Making();
  ~Making();
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
};

}  // namespace resprout::shim
