#include "mpi/policies/replicas/plane_end.hpp"

#include <utility>

#include "mpi/process/report/report.hpp"
#include "runtime/idle.hpp"

namespace resprout::shim {
namespace {

// Whether it was under way, and is over now.
bool has_just_ended(MPI_Request& request) {
  int flag = 0;
  return request != MPI_REQUEST_NULL &&
         PMPI_Test(&request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag != 0;
}

}  // namespace

PlaneEnd::PlaneEnd(std::string run_directory) : run_directory_(std::move(run_directory)) {
  PMPI_Ibarrier(MPI_COMM_WORLD, &arriving_);
}

PlaneEnd::~PlaneEnd() {
  PMPI_Wait(&arriving_, MPI_STATUS_IGNORE);
  PMPI_Wait(&agreeing_, MPI_STATUS_IGNORE);
}

void PlaneEnd::advance(bool is_agreed) {
  if (has_just_ended(arriving_)) leave_note("arrived");
  if (is_agreed) say_agreed(true);
  if (has_just_ended(agreeing_) && are_all_agreed_ != 0) leave_note("agreed");
}

void PlaneEnd::say_agreed(bool is_agreed) {
  if (std::exchange(has_said_agreed_, true)) return;
  is_agreed_ = is_agreed ? 1 : 0;
  PMPI_Iallreduce(&is_agreed_, &are_all_agreed_, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &agreeing_);
}

// Nonblocking collectives are started in the same order everywhere.
void PlaneEnd::barrier(bool is_agreed, const std::function<void()>& meanwhile) {
  say_agreed(is_agreed);
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(MPI_COMM_WORLD, &request);
  runtime::Idle idle{runtime::IdleStrategy{}};
  while (!has_just_ended(request)) {
    meanwhile();
    idle.pause();
  }
}

void PlaneEnd::leave_note(const char* name) const {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && !run_directory_.empty()) write_whole_file(run_directory_ + "/" + name, "\n");
}

}  // namespace resprout::shim
