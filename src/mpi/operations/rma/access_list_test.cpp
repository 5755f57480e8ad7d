#include "mpi/operations/rma/access_list.hpp"

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

template <typename T>
std::span<const std::byte> bytes_of(const T& values) {
  return std::as_bytes(std::span(values));
}

// What is answered, as numbers.
std::vector<int> carried_out(const AccessList& list, std::span<int> memory) {
  std::vector<std::byte> answer;
  const WindowMemory window{reinterpret_cast<std::byte*>(memory.data()),
                            static_cast<MPI_Aint>(memory.size_bytes()), sizeof(int)};
  carry_out(list.bytes(), window, answer);
  CHECK(answer.size() == list.answer_bytes());
  std::vector<int> numbers(answer.size() / sizeof(int));
  std::memcpy(numbers.data(), answer.data(), answer.size());
  return numbers;
}

}  // namespace

TEST_CASE("accesses are carried out in the order in which they were written down") {
  need_mpi();
  std::array<int, 4> memory{1, 2, 3, 4};
  AccessList list;
  const std::array<int, 2> first{10, 20};
  const std::array<int, 1> second{5};
  CHECK(list.add(AccessKind::get, MPI_NO_OP, {0, 2, MPI_INT}, {}));
  CHECK(list.add(AccessKind::put, MPI_REPLACE, {1, 2, MPI_INT}, bytes_of(first)));
  CHECK(list.add(AccessKind::accumulate, MPI_SUM, {2, 1, MPI_INT}, bytes_of(second)));
  CHECK(list.add(AccessKind::get_accumulate, MPI_MAX, {0, 1, MPI_INT}, bytes_of(second)));
  CHECK(list.add(AccessKind::get, MPI_NO_OP, {0, 4, MPI_INT}, {}));
  CHECK(carried_out(list, memory) == std::vector{1, 2, 1, 5, 10, 25, 4});
  CHECK(memory == std::array{5, 10, 25, 4});
  list.clear();
  CHECK(list.bytes().empty());
  CHECK(list.answer_bytes() == 0);
}

TEST_CASE("only what is as it was compared is swapped") {
  need_mpi();
  std::array<int, 2> memory{7, 7};
  AccessList list;
  const std::array<int, 2> equal{7, 1};
  const std::array<int, 2> other{8, 2};
  CHECK(list.add(AccessKind::compare_and_swap, MPI_NO_OP, {0, 1, MPI_INT}, bytes_of(equal)));
  CHECK(list.add(AccessKind::compare_and_swap, MPI_NO_OP, {1, 1, MPI_INT}, bytes_of(other)));
  CHECK(carried_out(list, memory) == std::vector{7, 7});
  CHECK(memory == std::array{1, 7});
}

TEST_CASE("gaps of the target's datatype are not touched, and their reach is known") {
  need_mpi();
  MPI_Datatype column = MPI_DATATYPE_NULL;
  PMPI_Type_vector(2, 1, 2, MPI_INT, &column);
  PMPI_Type_commit(&column);
  std::array<int, 8> memory{1, 2, 3, 4, 5, 6, 7, 8};
  const std::array<int, 4> data{10, 20, 30, 40};
  AccessList list;
  CHECK(list.add(AccessKind::put, MPI_REPLACE, {1, 2, column}, bytes_of(data)));
  CHECK(list.add(AccessKind::accumulate, MPI_SUM, {1, 2, column}, bytes_of(data)));
  const Reach reach = reach_of({1, 2, column}, sizeof(int));
  CHECK(reach.first == 4);
  CHECK(reach.end == 28);
  PMPI_Type_free(&column);  // the list needs it no more
  carried_out(list, memory);
  CHECK(memory == std::array{1, 20, 3, 40, 60, 6, 80, 8});
}

TEST_CASE("pairs of MPI's own, which have gaps, are combined") {
  need_mpi();
  struct Pair {
    double value;
    int index;
  };
  std::array<Pair, 2> memory{Pair{1.5, 1}, Pair{9.0, 2}};
  struct {
    double value = 3.5;
    int index = 7;
  } const most;
  std::vector<std::byte> packed(12);
  std::memcpy(packed.data(), &most.value, sizeof most.value);
  std::memcpy(packed.data() + 8, &most.index, sizeof most.index);
  AccessList list;
  CHECK(list.add(AccessKind::accumulate, MPI_MAXLOC, {0, 1, MPI_DOUBLE_INT}, packed));
  CHECK(list.add(AccessKind::accumulate, MPI_MAXLOC, {1, 1, MPI_DOUBLE_INT}, packed));
  std::vector<std::byte> answer;
  carry_out(list.bytes(),
            {reinterpret_cast<std::byte*>(memory.data()), sizeof memory, sizeof(Pair)}, answer);
  CHECK(memory[0].value == 3.5);
  CHECK(memory[0].index == 7);
  CHECK(memory[1].value == 9.0);
  CHECK(memory[1].index == 2);
}
