// The two groups of which MPI_Intercomm_create is to make an inter-communicator: their leaders tell
// each other who is in them, and each its own group.
//
// A leader may be lost at any time, and with it all that joins the groups. Whoever knows both goes
// on only if the other group is known to know them, too. A leader says so when all of its group
// have heard. Who does not hear that in the end revokes the session over both, in which others may
// wait by then: it has their names.
//
// Thread rule: as of collectives.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/handles/communicators/both_groups.hpp"

namespace resprout::shim {

// What MPI_Intercomm_create is given.
struct GroupPairCall {
  MPI_Comm local_comm;
  int local_leader;
  MPI_Comm bridge_comm;  // of the leaders alone, and so are the two behind it
  int remote_leader;
  int tag;
};

struct GroupPair {
  BothGroups groups;
  std::uint64_t name;  // for a session over both: no other pair's
};

// What came of it, at all members of both groups alike.
struct Introduction {
  enum class End : int {
    known,        // there is a pair
    strangers,    // somebody is not of this job
    overlapping,  // somebody is in both groups
    broken,       // a leader is lost, or was before it could say anything
  };

  End end = End::strangers;
  GroupPair pair;
};

// Collective over both groups. REQUIRES: losses are borne here, and local_comm is no
// inter-communicator.
Introduction introduce(const GroupPairCall& call);

}  // namespace resprout::shim
