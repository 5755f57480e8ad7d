// While the MPI library makes a communicator.
//
// Open MPI 5.0 puts a new communicator into its table before it is set up, and makes progress
// meanwhile. If it hears of a loss there, `ompi_comm_revoke_local` is to end the collectives of all
// communicators in the table that have lost a member, and uses what the new one does not have yet:
// a segmentation fault. So that function goes through here, and leaves alone those that are not set
// up; it does its work on them when they are. The last thing that a new one gets is its collectives
// (`mca_coll_base_comm_select`), the first that it gives back too (`mca_coll_base_comm_unselect`);
// both go through here, also for what the library makes for itself, as for windows.
//
// It gives a communicator its number in turns: that of the parent with the lowest number comes
// first, and a thread that makes one of another parent waits. A making that ends with an error may
// keep its turn, and all others wait for ever. So who has met one makes a communicator of its own
// process, which comes before all others, has nobody to wait for, and does give up the turn.
//
// It has a bounded number of numbers. That none is left it calls an internal error, which a loss
// may be to it, too.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace resprout::shim {

// One that the library was making ended with an error here. False: no number is left for one.
bool end_turn();

// How the library's making of one has ended, as its members tell each other: the OR of what each
// says.
inline constexpr std::byte making_met_loss{1};
inline constexpr std::byte making_ran_out{2};  // of numbers, at some member
// `code`: what the library has returned here, whose turn ends. None of these bits: it ended well,
// or by a mistake of the program's.
std::byte end_of_making(int code);
// That numbers ran out is said in a line, by the first member, and not twice by a process. `like`:
// what it was to be made of. What the call is to return.
int code_without_numbers(MPI_Comm like, int code);

}  // namespace resprout::shim
