// Communicators made after a loss, without the MPI library.
//
// The program's handle is a duplicate of MPI_COMM_SELF, which no loss can touch: it carries
// attributes, name, hints and error handler. Who is in it only this process and its peers know.
// Collectives are operations of its session; messages go over a carrier (carrier_pool.hpp), in
// which the ranks are those of the world, so that ranks are translated on the way to MPI and back.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <vector>

namespace resprout::shim {

struct DerivedCommunicator;

// One load while there are none.
bool is_any_derived();
bool is_derived(MPI_Comm comm);

// A peer of `comm` in MPI's words. Wildcards and MPI_PROC_NULL stay what they are.
struct Address {
  MPI_Comm comm;
  int peer;
};
Address address_of(MPI_Comm comm, int peer);

// MPI's words for who sent a message on `comm` become the program's.
void name_source(MPI_Comm comm, MPI_Status* status);
// The communicator of the program whose messages `carrier` carries; else `carrier` itself.
MPI_Comm carried_by(MPI_Comm carrier);

// As ulfm::failed_ranks and ulfm::acknowledge, for any communicator.
std::vector<int> failed_by_mpi(MPI_Comm comm);
void acknowledge_to_mpi(MPI_Comm comm);

// As PMPI_Comm_group, for any communicator.
int group_of(MPI_Comm comm, MPI_Group* group);
// The members of `group` in `comm`, in its order; MPI_UNDEFINED: not in it.
std::vector<int> ranks_of_group(MPI_Comm comm, MPI_Group group);

// The rank of a process of the world in it; -1: not a member.
int rank_in(const DerivedCommunicator& derived, int world_rank);

// For who makes and ends them: `comm` is what `pool_index` carries from now on; null: nothing.
void note_derived(int pool_index, MPI_Comm comm);

}  // namespace resprout::shim
