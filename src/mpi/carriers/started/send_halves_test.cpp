// Which send belongs to which receive, where MPI gives the handle of a receive that it has just
// completed to another thread's. The sends are over, each with an error of its own.
#include "mpi/carriers/started/send_halves.hpp"

#include <utility>

#include "doctest/doctest.h"
#include "mpi/testing/handles.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

constexpr auto leave = SendHalves::Then::leave;

void keep_half_that_ended(MPI_Request receive, int code) {
  need_mpi();
  SendHalf half;
  half.code = code;
  keep_send_half(receive, std::move(half));
}

int result_of(MPI_Request receive) {
  SendHalves halves(1, &receive, leave);
  const int result = halves.result_of(0);
  receive = MPI_REQUEST_NULL;
  return result;
}

}  // namespace

TEST_CASE("send halves: each receive has its own, also if it has got the handle of another one") {
  keep_half_that_ended(handle(0), MPI_ERR_TAG);
  MPI_Request receive = handle(0);
  SendHalves halves(1, &receive, leave);
  receive = MPI_REQUEST_NULL;                     // MPI has completed it
  keep_half_that_ended(handle(0), MPI_ERR_RANK);  // by another thread
  CHECK(halves.result_of(0) == MPI_ERR_TAG);
  CHECK(halves.result_of(0) == MPI_SUCCESS);
  CHECK(result_of(handle(0)) == MPI_ERR_RANK);
}

TEST_CASE("send halves: who leaves its own behind leaves that of the next receive where it is") {
  keep_half_that_ended(handle(0), MPI_ERR_TAG);
  MPI_Request receive = handle(0);
  {
    const SendHalves halves(1, &receive, leave);
    receive = MPI_REQUEST_NULL;
    keep_half_that_ended(handle(0), MPI_ERR_RANK);
  }
  CHECK(result_of(handle(0)) == MPI_ERR_RANK);
}

TEST_CASE("send halves: a receive that has none has not that of who had its handle before") {
  keep_half_that_ended(handle(0), MPI_ERR_TAG);
  MPI_Request receive = handle(0);
  SendHalves halves(1, &receive, leave);
  receive = MPI_REQUEST_NULL;
  CHECK(result_of(handle(0)) == MPI_SUCCESS);  // in another thread
  CHECK(halves.result_of(0) == MPI_ERR_TAG);
}

TEST_CASE("send halves: a receive that is not over keeps its own") {
  keep_half_that_ended(handle(0), MPI_ERR_TAG);
  MPI_Request receive = handle(0);
  for (int look = 0; look < 2; ++look) CHECK(SendHalves(1, &receive, leave).has_any());
  forget_send_half(handle(1));
  CHECK(result_of(handle(0)) == MPI_ERR_TAG);
  CHECK_FALSE(SendHalves(1, &receive, leave).has_any());
}

TEST_CASE("send halves: that of a receive which the program frees is none of the next one's") {
  keep_half_that_ended(handle(0), MPI_ERR_TAG);
  forget_send_half(handle(0));
  CHECK(result_of(handle(0)) == MPI_SUCCESS);
}
