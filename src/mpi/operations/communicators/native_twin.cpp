#include "mpi/operations/communicators/native_twin.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/failures.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {

bool are_all_who_live(const std::vector<int>& members) {
  const auto is_other = [&](int rank) { return std::ranges::find(members, rank) == members.end(); };
  const auto others_lost = std::ranges::count_if(failed_in(MPI_COMM_WORLD), is_other);
  int size = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  return members.size() + static_cast<std::size_t>(others_lost) == static_cast<std::size_t>(size);
}

void inherit_error_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(from, &handler);
  MPI_Comm_set_errhandler(to, handler);
  MPI_Errhandler_free(&handler);
}

MPI_Comm communicator_of_living(std::size_t count) {
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    MPI_Comm living = ulfm::shrink(MPI_COMM_WORLD);
    if (living == MPI_COMM_NULL) break;
    PMPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    int size = 0;
    PMPI_Comm_size(living, &size);
    if (static_cast<std::size_t>(size) == count) return living;
    PMPI_Comm_free(&living);
    if (static_cast<std::size_t>(size) < count) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return MPI_COMM_NULL;
}

NativeTwin::NativeTwin(MPI_Comm comm)
    : is_possible_(ulfm::is_active() && are_all_who_live(communicator_of(comm)->world_ranks)) {
  if (!is_possible_) return;
  const Communicator& communicator = *communicator_of(comm);
  MPI_Comm living = communicator_of_living(communicator.world_ranks.size());
  if (living == MPI_COMM_NULL) return;
  if (PMPI_Comm_split(living, 0, communicator.rank, &twin_) != MPI_SUCCESS) twin_ = MPI_COMM_NULL;
  PMPI_Comm_free(&living);
}

NativeTwin::~NativeTwin() {
  if (is_whole()) PMPI_Comm_free(&twin_);
}

}  // namespace resprout::shim
