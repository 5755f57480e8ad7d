#include "mpi/handles/requests/request_table.hpp"

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

struct Kept {
  int number = 0;
};
using Table = RequestTable<Kept>;

// A handle that MPI has given; it is never completed.
MPI_Request some_handle() {
  need_mpi();
  static const MPI_Request handle = [] {
    MPI_Request made = MPI_REQUEST_NULL;
    PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &made);
    return made;
  }();
  return handle;
}

}  // namespace

TEST_CASE(
    "another thread's request that MPI gives the handle of a claimed one is not taken for it") {
  const MPI_Request handle = some_handle();
  Table table;
  table.put(handle, std::make_shared<Kept>(Kept{1}));
  const Table::Claim claim = table.claim(handle);
  CHECK(claim.entry->number == 1);
  CHECK(!table.find(handle));
  CHECK(!table.claim(handle));  // of a request of which nothing is kept
  CHECK(!table.extract(handle));
  table.put(handle, std::make_shared<Kept>(Kept{2}));
  table.settle(claim, MPI_REQUEST_NULL);
  CHECK(claim.entry->number == 1);
  REQUIRE(table.find(handle));
  CHECK(table.find(handle)->number == 2);
}

TEST_CASE("what a call has claimed and MPI has not completed is found again") {
  const MPI_Request handle = some_handle();
  Table table;
  table.put(handle, std::make_shared<Kept>(Kept{1}));
  Table::Claim claim = table.claim(handle);
  int visited = 0;
  table.for_each_unclaimed([&](MPI_Request, const Table::Pointer&) { ++visited; });
  CHECK(visited == 0);
  CHECK(table.find_lasting(handle) == claim.entry);
  table.settle(claim, handle);
  CHECK(table.find(handle) == claim.entry);
  claim = table.claim(handle);
  table.settle(claim, MPI_REQUEST_NULL);
  CHECK(table.is_empty());
}
