#include "mpi/handles/datatypes/payload.hpp"

#include <array>

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

MPI_Datatype resized(MPI_Datatype datatype, MPI_Aint extent) {
  need_mpi();
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_create_resized(datatype, 0, extent, &made);
  PMPI_Type_commit(&made);
  return made;
}

}  // namespace

TEST_CASE("of elements that go backwards the last one is the first in memory") {
  MPI_Datatype backwards = resized(MPI_INT, -8);
  const Layout all = layout_of(backwards, 3);
  CHECK(all.true_lb == -16);
  CHECK(all.spread_bytes == 20);
  const std::array<int, 5> memory{3, 0, 2, 0, 1};
  std::array<int, 5> copy{};
  const auto payload = spread(&memory[4], all);
  gather_up(payload, &copy[4], all);
  CHECK(copy == memory);
  std::array<int, 5> behind{};
  gather_up_part(payload, all, 1, &behind[4], layout_of(backwards, 2));
  CHECK(behind == std::array<int, 5>{0, 0, 3, 0, 2});
  PMPI_Type_free(&backwards);
}

TEST_CASE("elements of no bytes need no memory, however far they are apart") {
  need_mpi();
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Datatype apart = resized(nothing, 100);
  CHECK(layout_of(apart, 1000).spread_bytes == 0);
  PMPI_Type_free(&apart);
  PMPI_Type_free(&nothing);
}
