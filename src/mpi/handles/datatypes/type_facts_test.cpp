#include "mpi/handles/datatypes/type_facts.hpp"

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

MPI_Datatype ints(int count) {
  need_mpi();
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(count, MPI_INT, &made);
  PMPI_Type_commit(&made);
  return made;
}

}  // namespace

TEST_CASE("what is known of a datatype is found out once") {
  MPI_Datatype three = ints(3);
  const TypeFacts& first = facts_of(three);
  CHECK(first.size == 3 * sizeof(int));
  CHECK(first.is_dense);
  CHECK(facts_of(MPI_DOUBLE).size == sizeof(double));
  CHECK(&facts_of(three) == &first);
  PMPI_Type_free(&three);
}

TEST_CASE("a datatype that has the handle of one that is gone is not taken for it") {
  MPI_Datatype before = ints(3);
  CHECK(facts_of(before).size == 3 * sizeof(int));
  const MPI_Datatype gone = before;
  PMPI_Type_free(&before);
  MPI_Datatype again = MPI_DATATYPE_NULL;
  PMPI_Type_create_resized(MPI_CHAR, 0, 8, &again);
  PMPI_Type_commit(&again);
  REQUIRE(again == gone);
  CHECK(facts_of(again).size == 1);
  CHECK(facts_of(again).extent == 8);
  CHECK_FALSE(facts_of(again).is_dense);
  PMPI_Type_free(&again);
}

TEST_CASE("a long double has bytes that nobody writes, also inside of others") {
  MPI_Datatype two = MPI_DATATYPE_NULL;
  need_mpi();
  PMPI_Type_contiguous(2, MPI_LONG_DOUBLE, &two);
  PMPI_Type_commit(&two);
  CHECK(facts_of(two).padding.has_any() == facts_of(MPI_LONG_DOUBLE).padding.has_any());
  CHECK_FALSE(facts_of(MPI_DOUBLE).padding.has_any());
  PMPI_Type_free(&two);
}

TEST_CASE("what is known of a datatype is known of its copies, also when it is gone itself") {
  MPI_Datatype three = ints(3);
  const TypeFacts& facts = facts_of(three);
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  PMPI_Type_dup(three, &copy);
  CHECK(&facts_of(copy) == &facts);
  PMPI_Type_free(&three);
  CHECK(facts_of(copy).size == 3 * sizeof(int));
  PMPI_Type_free(&copy);
}
