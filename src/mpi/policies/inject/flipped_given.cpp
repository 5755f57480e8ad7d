#include "mpi/policies/inject/flipped_given.hpp"

#include "mpi/handles/communicators/communicator.hpp"

namespace resprout::shim {

std::optional<Sides> sides_to_flip(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return std::nullopt;
  const Communicator& communicator = *communicator_of(comm);
  if (communicator.is_inter) return std::nullopt;
  return Sides(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
}

void flip_given(const Sides& sides, MPI_Comm comm, const char* call) {
  armed_flips.load()->at_collective(sides.given(), comm, call);
}

}  // namespace resprout::shim
