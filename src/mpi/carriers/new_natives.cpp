#include "mpi/carriers/new_natives.hpp"

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {

void make_native(MPI_Comm comm) {
  if (!are_natives_open() || comm == MPI_COMM_NULL) return;
  const Communicator& communicator = *communicator_of(comm);
  if (communicator.is_native || communicator.is_inter) return;
  MPI_Comm made = MPI_COMM_NULL;
  {
    const QuietMaking quiet;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    const int code = PMPI_Comm_create(comm, group, &made);
    PMPI_Group_free(&group);
    if (code != MPI_SUCCESS) made = MPI_COMM_NULL;
  }
  if (made == MPI_COMM_NULL) {
    if (end_turn()) note_broken_making();
    return;
  }
  PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  add_native(comm, made);
}

bool make_neighbors(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return true;
  if (topology == MPI_UNDEFINED || !goes_on_without(World::current()->options())) return true;
  Communicator& communicator = *communicator_of(comm);
  if (communicator.native == MPI_COMM_NULL) return false;
  MPI_Comm made = MPI_COMM_NULL;
  {
    const QuietMaking quiet;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    if (PMPI_Comm_create(comm, group, &made) != MPI_SUCCESS) made = MPI_COMM_NULL;
    PMPI_Group_free(&group);
  }
  if (made == MPI_COMM_NULL) {
    note_broken_making();
    end_turn();
    return false;
  }
  PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  communicator.neighbors = made;
  return true;
}

void forgo_neighbors(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) communicator_of(comm)->neighbors = MPI_COMM_NULL;
}

}  // namespace resprout::shim
