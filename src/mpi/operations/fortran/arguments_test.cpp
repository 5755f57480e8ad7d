#include "mpi/operations/fortran/arguments.hpp"

#ifdef OPEN_MPI

#  include <array>
#  include <string>

#  include "doctest/doctest.h"
#  include "mpi/testing/mpi_of_one.hpp"

extern "C" {
extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_;
extern MPI_Fint mpi_fortran_unweighted_, mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_;
}

namespace {

using namespace resprout::shim;
using namespace resprout::shim::fortran;

TEST_CASE("special addresses of Fortran become C's, and others stay what they are") {
  int number = 0;
  CHECK(buffer(&mpi_fortran_bottom_) == MPI_BOTTOM);
  CHECK(buffer(&mpi_fortran_in_place_) == MPI_IN_PLACE);
  CHECK(buffer(&number) == &number);
  CHECK(weights(&mpi_fortran_unweighted_) == MPI_UNWEIGHTED);
  CHECK(weights(&mpi_fortran_weights_empty_) == MPI_WEIGHTS_EMPTY);
  CHECK(weights(&number) == &number);
  CHECK(errcodes(&mpi_fortran_errcodes_ignore_) == MPI_ERRCODES_IGNORE);
  CHECK(errcodes(&number) == &number);
  CHECK(static_cast<MPI_Status*>(Status(&mpi_fortran_status_ignore_)) == MPI_STATUS_IGNORE);
}

TEST_CASE("a string ends before the blanks at its end, and may be all blank") {
  CHECK(std::string(String("a file  ", 8)) == "a file");
  CHECK(std::string(String("abcdef", 3)) == "abc");
  CHECK(std::string(String("   ", 3)).empty());
  CHECK(std::string(String("", 0)).empty());
}

TEST_CASE("a name is filled up with blanks, or cut off") {
  std::string wide = "??????";
  std::string narrow = "??";
  std::snprintf(Name(wide.data(), 6), 5, "host");
  std::snprintf(Name(narrow.data(), 2), 5, "host");
  CHECK(wide == "host  ");
  CHECK(narrow == "ho");
}

TEST_CASE("places are counted from 1, and none stays MPI_UNDEFINED") {
  MPI_Fint place = -9;
  *Index(&place) = 0;
  CHECK(place == 1);
  *Index(&place) = 41;
  CHECK(place == 42);
  {
    const Index untouched(&place);
  }
  CHECK(place == MPI_UNDEFINED);

  std::array<MPI_Fint, 3> places = {-9, -9, -9};
  MPI_Fint count = 77;  // not what the call says
  {
    Indices indices(places.data(), &count);
    static_cast<int*>(indices)[0] = 4;
    static_cast<int*>(indices)[1] = 0;
    count = 2;
  }
  CHECK(places == std::array<MPI_Fint, 3>{5, 1, -9});
  {
    const Indices of_a_call_that_failed(places.data(), &count);
  }
  CHECK(count == 0);
  CHECK(places == std::array<MPI_Fint, 3>{5, 1, -9});
}

TEST_CASE("a handle that the call has not written stays what it was") {
  need_mpi();
  MPI_Fint handle = 12345;
  {
    const Comm::Out untouched(&handle);
  }
  CHECK(handle == 12345);
  *static_cast<MPI_Comm*>(Comm::Out(&handle)) = MPI_COMM_SELF;
  CHECK(handle == PMPI_Comm_c2f(MPI_COMM_SELF));
  CHECK(static_cast<MPI_Comm>(Comm::In(&handle)) == MPI_COMM_SELF);
  *static_cast<MPI_Comm*>(Comm::InOut(&handle)) = MPI_COMM_NULL;
  CHECK(handle == PMPI_Comm_c2f(MPI_COMM_NULL));
}

TEST_CASE("a status that the call has not written stays what it was") {
  need_mpi();
  std::array<MPI_Fint, MPI_F_STATUS_SIZE> status = {1, 2, 3, 4, 5, 6};
  const auto before = status;
  {
    const Status untouched(status.data());
  }
  CHECK(status == before);
  static_cast<MPI_Status*>(Status(status.data()))->MPI_TAG = 9;
  CHECK(status[MPI_F_TAG] == 9);
  CHECK(status[MPI_F_SOURCE] == before[MPI_F_SOURCE]);
}

TEST_CASE("equal lists of datatypes are kept once, those of a buffer in place are not read") {
  need_mpi();
  const MPI_Fint type = PMPI_Type_c2f(MPI_INT);
  int number = 0;
  const MPI_Datatype* const first = kept_datatypes(&type, 1, &number);
  CHECK(first[0] == MPI_INT);
  CHECK(kept_datatypes(&type, 1, &number) == first);
  kept_datatypes(nullptr, 1, &mpi_fortran_in_place_);
}

TEST_CASE("blocks are counted by processes, or by neighbors to either side") {
  need_mpi();
  const MPI_Fint self = PMPI_Comm_c2f(MPI_COMM_SELF);
  CHECK(processes_of(&self) == 1);
  CHECK(destinations_of(&self) == 0);  // no topology
  const std::array<int, 3> to_itself{};
  MPI_Comm graph = MPI_COMM_NULL;
  PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 3, to_itself.data(), MPI_UNWEIGHTED, 3,
                                  to_itself.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  const MPI_Fint handle = PMPI_Comm_c2f(graph);
  CHECK(processes_of(&handle) == 1);
  CHECK(destinations_of(&handle) == 3);
  CHECK(sources_of(&handle) == 3);
  PMPI_Comm_free(&graph);
  const MPI_Fint null = PMPI_Comm_c2f(MPI_COMM_NULL);
  CHECK(processes_of(&null) == 0);
  CHECK(sources_of(&null) == 0);
}

TEST_CASE("a negative number of requests is none") {
  MPI_Fint request = 5;
  {
    const Requests none(&request, -1);
  }
  CHECK(request == 5);
}

}  // namespace

#endif
