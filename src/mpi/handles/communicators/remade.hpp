// Communicators made after a loss, without the MPI library.
//
// The program's handle is a duplicate of MPI_COMM_SELF, which no loss can touch: it carries
// attributes, name, hints and error handler. Who is in it only this process and its peers know.
// Collectives are operations of its session; messages go over a spare (spares.hpp), in which the
// ranks are those of the world, so that ranks are translated on the way to MPI and back.
//
// Thread rule: questions from any thread; one is made and ended by one thread, as MPI demands.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "runtime/session.hpp"

namespace resprout::shim {

class RollCall;

// One load while there are none.
bool is_any_remade();
bool is_remade(MPI_Comm comm);

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

// A communicator of these world ranks, in this order, which may be lost already, with the session
// `name`; its messages go over the spare that `roll` has found. It gets the error handler of
// `like`, but not its attributes. MPI_ERR_OTHER, at all members, if there is no spare left.
int remake(std::vector<int> world_ranks, RollCall& roll, std::uint64_t name, MPI_Comm like,
           MPI_Comm* made, runtime::Lock& lock);
// For a call that MPI cannot do on it: says so in a line, and returns MPI_ERR_COMM through the
// error handler. `name`: the lower-case MPI name.
int refuse_remade(MPI_Comm comm, const char* name);
// Instead of MPI_Comm_free. `is_clean`: all members part, after all that they had to say. Of one
// that departs (departures.hpp) what carries its messages is not given back yet. REQUIRES: it has
// no attributes any more.
void unmake(MPI_Comm comm, bool is_clean);

}  // namespace resprout::shim
