#include "mpi/handles/requests/broken_sends.hpp"

#include <array>

#include "doctest/doctest.h"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/testing/handles.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

// One that needs its receiver.
void start_send(MPI_Request request, int peer) {
  remember(request, {.comm = MPI_COMM_SELF,
                     .peer = peer,
                     .kind = RequestRecord::Kind::send,
                     .needs_receiver = true});
}

}  // namespace

TEST_CASE("broken sends: those that are over are forgotten, and not the next ones of their names") {
  need_mpi();
  start_send(handle(0), 1);
  start_send(handle(1), 2);
  start_send(handle(2), 3);
  std::array requests{handle(0), handle(1), handle(2)};
  {
    const BrokenSends sends(Recalled(3, requests.data()), requests.data());
    CHECK(sends.has_any());
    requests[0] = requests[1] = MPI_REQUEST_NULL;  // MPI has completed them
    start_send(handle(0), 4);                      // by another thread
  }
  REQUIRE(recall(handle(0)));
  CHECK(recall(handle(0))->peer == 4);
  CHECK_FALSE(recall(handle(1)));
  REQUIRE(recall(handle(2)));
  CHECK(recall(handle(2))->peer == 3);
  forget(handle(0));
  forget(handle(2));
}
