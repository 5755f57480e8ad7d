#include "mpi/policies/inject/flipped_given.hpp"

#include "mpi/handles/communicators/communicator.hpp"

namespace resprout::shim {

std::optional<CallData> sides_to_flip(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return std::nullopt;
  const Communicator& communicator = *communicator_of(comm);
  if (communicator.is_inter) return std::nullopt;
  return CallData(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
}

void flip_given(const CallData& call_data, MPI_Comm comm, const char* call) {
  armed_flips.load()->at_collective(call_data.given(), comm, call);
}

}  // namespace resprout::shim
