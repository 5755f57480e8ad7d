#include "mpi/handles/openmpi/references.hpp"

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

TEST_CASE("references: Open MPI says whether requests of its own are left on a communicator") {
#ifdef OMPI_MAJOR_VERSION
  need_mpi();
  MPI_Comm own = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &own);
  find_references(own);
  MPI_Comm other = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &other);
  CHECK_FALSE(has_requests_in_mpi(other));
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, 0, other, &request);
  CHECK(has_requests_in_mpi(other));
  CHECK_FALSE(has_requests_in_mpi(own));
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, 0, other);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_FALSE(has_requests_in_mpi(other));
  PMPI_Comm_free(&other);
  PMPI_Comm_free(&own);
#endif
}
