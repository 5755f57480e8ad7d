// What src/mpi/handles/openmpi is asked of the inside of a library, for MPICH and Intel MPI. They
// know of no losses. What of theirs makes a communicator is left where a loss falls into it.
#include <mpi.h>

#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/handles/mpich/breaking_off.hpp"
#include "mpi/handles/openmpi/creation_communicator.hpp"
#include "mpi/handles/openmpi/failed_requests.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/handles/openmpi/numbers.hpp"
#include "mpi/handles/openmpi/steps.hpp"

namespace resprout::shim {

bool is_failed_in_mpi(MPI_Request) { return false; }
BlockingSend::BlockingSend(MPI_Comm, int) {}
BlockingSend::~BlockingSend() = default;

FarNumbers::FarNumbers() : were_wanted_(false) {}
FarNumbers::~FarNumbers() = default;

bool end_turn() { return true; }
std::byte end_of_making(int code) { return is_loss(code) ? making_met_loss : std::byte{0}; }
int code_without_numbers(MPI_Comm, int code) { return code != MPI_SUCCESS ? code : MPI_ERR_INTERN; }

void open_creation_communicator() {}
void close_creation_communicator() {}
void leave_creation(void*) {}

namespace {

int tag_of(std::uint64_t name) {
  constexpr int bits_of_tag = 28;
  return static_cast<int>(name >> (64 - bits_of_tag));
}

// Whether a group of its members can be made there.
bool has_groups_of_all(MPI_Comm comm) {
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  return is_inter == 0 && comm != MPI_COMM_SELF;
}

}  // namespace

int create_in_creation_communicator(MPI_Comm parent, MPI_Group group, std::uint64_t name,
                                    MPI_Comm* made) {
  const MPI_Comm around = has_groups_of_all(parent) ? parent : MPI_COMM_WORLD;
  const int code =
      unless_lost([&] { return PMPI_Comm_create_group(around, group, tag_of(name), made); });
  if (code == MPI_SUCCESS && around != parent) copy_error_handler(parent, *made);
  return code;
}
// Leaders speak to each other where no message of the program's is.
int join_in_creation_communicator(MPI_Comm parent, MPI_Comm half, int other_leader,
                                  std::uint64_t name, MPI_Comm* made) {
  const int code = unless_lost([&] {
    return PMPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other_leader, tag_of(name), made);
  });
  if (code != MPI_SUCCESS) return code;
  copy_error_handler(parent, *made);
  return PMPI_Comm_free(&half);
}

int start_duplicate(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return PMPI_Comm_idup(comm, made, request);
}
void* step_under_way() { return nullptr; }

}  // namespace resprout::shim
