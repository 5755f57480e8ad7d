// The two groups of an inter-communicator that is to be made of processes of this job. Their
// leaders settle who makes it: the MPI library as ever, or, once somebody is lost, the library on
// communicators that it makes anew of all who live (native_twin.hpp). All members then do the same.
//
// Thread rule: as of collectives.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// What MPI_Intercomm_create is given.
struct GroupPairCall {
  MPI_Comm local_comm;
  int local_leader;
  MPI_Comm bridge_comm;  // of the leaders alone, and so are the two behind it
  int remote_leader;
  int tag;
};

class GroupPair {
 public:
  enum class Way : int {
    library,  // as if there were no Resprout
    anew,
    refused,  // somebody lives who is in neither group
    broken,   // a member is lost, or a message of the leaders was
  };

  // Collective over both groups. REQUIRES: the library has ULFM, and local_comm is no
  // inter-communicator.
  explicit GroupPair(const GroupPairCall& call);

  Way way() const { return settled_.way; }
  // Collective over both groups. MPI_SUCCESS, or the class of what went wrong. REQUIRES: way() is
  // `anew`.
  int make(MPI_Comm* intercomm) const;

 private:
  // What a leader tells its group.
  struct Settled {
    Way way = Way::library;
    int members = 0;        // of both groups
    int remote_leader = 0;  // its rank in MPI_COMM_WORLD
    int is_second = 0;      // of the two groups
  };

  Settled settle() const;
  int exchange(const void* mine, void* others, int mine_count, int others_count) const;

  const GroupPairCall call_;
  Settled settled_;
};

}  // namespace resprout::shim
