#include "mpi/handles/communicators/communicator_name.hpp"

#include <set>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_dup(comm, &made);
  return made;
}

}  // namespace

TEST_CASE("every communicator has a name of its own, its duplicates and theirs too") {
  need_mpi();
  std::set<std::uint64_t> names{*name_of(MPI_COMM_WORLD), *name_of(MPI_COMM_SELF)};
  for (const MPI_Comm parent : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Comm children[] = {duplicate(parent), duplicate(parent)};
    MPI_Comm grandchild = duplicate(children[0]);
    for (const MPI_Comm child : children) name_child(parent, child);
    name_child(children[0], grandchild);
    for (const MPI_Comm comm : {children[0], children[1], grandchild}) {
      REQUIRE(name_of(comm));
      names.insert(*name_of(comm));
    }
    for (MPI_Comm* comm : {&children[0], &children[1], &grandchild}) PMPI_Comm_free(comm);
  }
  CHECK(names.size() == 8);
}

TEST_CASE("a member that is not in what was made counts it all the same") {
  need_mpi();
  // One communicator at two of its members.
  MPI_Comm at_one = duplicate(MPI_COMM_WORLD);
  MPI_Comm at_other = duplicate(MPI_COMM_WORLD);
  name_child(MPI_COMM_WORLD, at_one);
  communicator_of(at_other)->name = communicator_of(at_one)->name;
  const NamedChildren before = named_children();
  MPI_Comm first = duplicate(at_one);
  name_child(at_one, first);
  MPI_Comm second_at_one = duplicate(at_one);
  name_child(at_one, second_at_one);
  set_named_children(before);
  MPI_Comm second_at_other = duplicate(at_other);
  name_child(at_other, MPI_COMM_NULL);
  name_child(at_other, second_at_other);
  CHECK(name_of(second_at_one) == name_of(second_at_other));
  CHECK(name_of(second_at_one) != name_of(first));
  for (MPI_Comm* comm : {&first, &second_at_one, &second_at_other, &at_one, &at_other})
    PMPI_Comm_free(comm);
}

TEST_CASE("what nobody has named has no name, nor has what is made of it") {
  need_mpi();
  MPI_Comm unnamed = duplicate(MPI_COMM_WORLD);
  MPI_Comm child = duplicate(unnamed);
  name_child(unnamed, child);
  CHECK(!name_of(unnamed));
  CHECK(!name_of(child));
  PMPI_Comm_free(&child);
  PMPI_Comm_free(&unnamed);
}

TEST_CASE("what a group makes has its name by who is in it, the tag and the number") {
  need_mpi();
  std::set<std::uint64_t> names;
  const auto name = [&](int tag, std::vector<int> world_ranks, std::uint64_t number) {
    MPI_Comm made = duplicate(MPI_COMM_WORLD);
    name_group(MPI_COMM_WORLD, made, tag, world_ranks, number);
    const std::uint64_t given = *name_of(made);
    PMPI_Comm_free(&made);
    return given;
  };
  names = {name(0, {0, 1}, 1), name(1, {0, 1}, 1), name(0, {1, 0}, 1), name(0, {0, 1}, 2),
           name(0, {0, 1, 2}, 1)};
  CHECK(names.size() == 5);
  CHECK(names.contains(name(0, {0, 1}, 1)));
}
