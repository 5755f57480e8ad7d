// Where the MPI library makes the communicators of groups, and how a loss ends that.
//
// The members of a group that call MPI_Comm_create_group of Open MPI 5.0 agree by messages on the
// communicator that they are part of, with requests that nobody asks whether their peers live: who
// waits for the dead, or for somebody who does, waits for ever. So they do it in the creation
// communicator, a private duplicate of the world that MPI_Init makes, in which nothing else is
// said. As soon as a process knows of a loss, or that the communicator they are of is revoked, it
// revokes its creation communicator, has all that a making waits for there end with an error, and
// refuses what it goes on to wait for: `ompi_comm_request_schedule_append`, by which the library
// says what it waits for next, goes through here. After a loss the library makes no communicator
// any more (derived.hpp).
//
// An inter-communicator is made of two such groups, each in a communicator of its own, which the
// creation communicator joins. So all that the library says meanwhile is said where a loss ends it,
// and nothing of the program's is revoked for that.
//
// Thread rule: `open_creation_communicator` and `close_creation_communicator` once; the rest from
// any thread.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace resprout::shim {

// In MPI_Init, collective over MPI_COMM_WORLD, before anybody can be lost.
void open_creation_communicator();
// In MPI_Finalize.
void close_creation_communicator();

// As MPI_Comm_create_group, with the error handler of `parent`. `name`: a number that the members
// have in common, and few others at that time. If anybody in the world is lost by its end, or
// `parent` is revoked, that is an error, whether it is made or not.
int create_in_creation_communicator(MPI_Comm parent, MPI_Group group, std::uint64_t name,
                                    MPI_Comm* made);

// As MPI_Intercomm_create, with the error handler of `parent`, of two groups each of which has just
// been made there: `half` is that of this process, and is given back. `other_leader`: the world
// rank of the first one of the other group. All else as above. REQUIRES: all members of both groups
// have their half.
int join_in_creation_communicator(MPI_Comm parent, MPI_Comm half, int other_leader,
                                  std::uint64_t name, MPI_Comm* made);

}  // namespace resprout::shim
