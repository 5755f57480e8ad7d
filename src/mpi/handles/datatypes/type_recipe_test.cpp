#include "mpi/handles/datatypes/type_recipe.hpp"

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

using Numbers = std::vector<MPI_Aint>;

struct Expected {
  int combiner;
  std::vector<int> integers;
  Numbers counts;
  Numbers classic_integers;
  Numbers classic_addresses;
};

}  // namespace

TEST_CASE("large counts stand where the integers and addresses of the classic call stand") {
  const Expected all[] = {
      {MPI_COMBINER_CONTIGUOUS, {}, {7}, {7}, {}},
      {MPI_COMBINER_VECTOR, {}, {2, 3, 5}, {2, 3, 5}, {}},
      {MPI_COMBINER_HVECTOR, {}, {2, 3, 40}, {2, 3}, {40}},
      {MPI_COMBINER_INDEXED, {}, {2, 1, 3, 0, 4}, {2, 1, 3, 0, 4}, {}},
      {MPI_COMBINER_HINDEXED, {}, {2, 1, 3, 0, 32}, {2, 1, 3}, {0, 32}},
      {MPI_COMBINER_INDEXED_BLOCK, {}, {2, 3, 0, 4}, {2, 3, 0, 4}, {}},
      {MPI_COMBINER_HINDEXED_BLOCK, {}, {2, 3, 0, 32}, {2, 3}, {0, 32}},
      {MPI_COMBINER_STRUCT, {}, {2, 1, 3, 0, 32}, {2, 1, 3}, {0, 32}},
      {MPI_COMBINER_RESIZED, {}, {-8, 64}, {}, {-8, 64}},
      {MPI_COMBINER_SUBARRAY, {1, MPI_ORDER_C}, {9, 3, 2}, {1, 9, 3, 2, MPI_ORDER_C}, {}},
      {MPI_COMBINER_DARRAY,
       {4, 1, 1, 6, 7, 4, MPI_ORDER_C},
       {9},
       {4, 1, 1, 9, 6, 7, 4, MPI_ORDER_C},
       {}},
  };
  for (const Expected& one : all) {
    CAPTURE(one.combiner);
    const RecipeNumbers found = in_classic_order(one.combiner, one.integers, one.counts);
    CHECK(found.integers == one.classic_integers);
    CHECK(found.addresses == one.classic_addresses);
  }
}
