// What is made of two groups that have a session over both (both_groups.hpp): other
// inter-communicators, and one of all.
//
// As elsewhere all members hold a roll call first, in that session. While nobody in the world is
// lost the MPI library makes the new one, of pieces (creation_communicator.hpp). Afterwards merged
// ones are derived (handles/communicators/derived.hpp). The library makes inter-communicators as
// long as all who live are in them; else they are refused. All members always get the same.
//
// Thread rule: as of collectives.
#pragma once

#include <mpi.h>

#include "mpi/handles/communicators/both_groups.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

// For which new one a member is, and where in its group there.
struct Side {
  int is_in_any = 1;
  int color = 0;
  int key = 0;
};

// The end of a call, lower-case MPI name `call`, that makes an inter-communicator of two groups.
// `session`: over both; `like`: whose error handler it gets. What the call returns.
int make_between(MPI_Comm like, const char* call, runtime::Session& session,
                 const BothGroups& groups, const Side& side, MPI_Comm* made);

// The same of an inter-communicator. REQUIRES: has_both_groups().
int duplicate_between(MPI_Comm inter, const char* call, MPI_Comm* made);
int split_between(MPI_Comm inter, int color, int key, MPI_Comm* made);
int create_between(MPI_Comm inter, MPI_Group group, MPI_Comm* made);
// Of those who live, though it may be revoked.
int shrink_between(MPI_Comm inter, MPI_Comm* made);
int merge_between(MPI_Comm inter, int high, MPI_Comm* made);

}  // namespace resprout::shim
