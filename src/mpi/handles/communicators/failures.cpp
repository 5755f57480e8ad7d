#include "mpi/handles/communicators/failures.hpp"

#include <algorithm>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {

std::span<const int> failed_in(MPI_Comm comm) {
  for (const int rank : failed_by_mpi(comm)) note_code(comm, rank, proc_failed());
  Communicator& communicator = *communicator_of(comm);
  std::vector<int>& failed = communicator.failed;
  const int size = static_cast<int>(communicator.world_ranks.size());
  for (int rank = 0; rank < size; ++rank)
    if (is_lost(comm, rank) && std::find(failed.begin(), failed.end(), rank) == failed.end())
      failed.push_back(rank);
  return failed;
}

std::span<const int> acknowledged_in(MPI_Comm comm) {
  const Communicator& communicator = *communicator_of(comm);
  return std::span(communicator.failed).first(communicator.acknowledged);
}

void acknowledge(MPI_Comm comm, int count) {
  const std::size_t known = failed_in(comm).size();
  Communicator& communicator = *communicator_of(comm);
  communicator.acknowledged = std::max(
      communicator.acknowledged, std::min(known, static_cast<std::size_t>(std::max(count, 0))));
  if (is_all_acknowledged(comm)) acknowledge_to_mpi(comm);
}

bool is_all_acknowledged(MPI_Comm comm) {
  const auto acknowledged = acknowledged_in(comm);
  const std::vector<int> by_mpi = failed_by_mpi(comm);
  return std::all_of(by_mpi.begin(), by_mpi.end(), [&](int rank) {
    return std::find(acknowledged.begin(), acknowledged.end(), rank) != acknowledged.end();
  });
}

}  // namespace resprout::shim
