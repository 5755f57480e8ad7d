// How the calls of MPI start collectives that may be small ones (small_collective.hpp).
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/carriers/shared_slots/communicator_slots.hpp"
#include "mpi/carriers/started/small_collective.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {

// The collective with these arguments: a small one if it may be one, as far as this member can say.
// What becomes of that all find out alike. Null: the arguments are not valid.
template <typename Arguments>
MakeCollective make_collective(const Arguments& arguments) {
  return [=](MPI_Comm comm, Communicator& carrying) -> std::shared_ptr<Collective> {
    runtime::Session& session = *carrying.session;
    if (!arguments.are_valid(session)) return nullptr;
    // Replicas compare, and complete for the lost, what goes by messages.
    const bool is_compared = World::current()->options().is_replicated();
    if (!may_come_to_shared_slots(carrying) || is_compared ||
        !fits_shared_slots(arguments.way(session), 2))
      return arguments.make(comm, session);
    return std::make_shared<SmallCollectiveOf<Arguments>>(comm, carrying, arguments);
  };
}

// The same at the head of a call of MPI_I...; false: nothing has happened.
template <typename Arguments>
bool maybe_start_at_head(MPI_Comm comm, const char* name, MPI_Request* request,
                         const Arguments& arguments) {
  Communicator* communicator = small_at_head(comm, request);
  if (communicator == nullptr || !arguments.are_valid(*communicator->session) ||
      !fits_shared_slots(arguments.way(*communicator->session), 2))
    return false;
  const auto collective =
      std::make_shared<SmallCollectiveOf<Arguments>>(comm, *communicator, arguments);
  return maybe_start_small(comm, name, request, *communicator, collective);
}

}  // namespace resprout::shim
