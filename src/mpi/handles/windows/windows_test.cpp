#include "mpi/handles/windows/windows.hpp"
#include "mpi/process/open_windows.hpp"

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

TEST_CASE("there are windows from their making until they are freed") {
  need_mpi();
  CHECK(!has_windows());
  MPI_Win first = MPI_WIN_NULL;
  MPI_Win second = MPI_WIN_NULL;
  PMPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &first);
  PMPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &second);
  note_window(first);
  note_window(second);
  PMPI_Win_free(&first);
  CHECK(has_windows());
  PMPI_Win_free(&second);
  CHECK(!has_windows());
}
