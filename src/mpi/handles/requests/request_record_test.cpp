// What is remembered of requests, where MPI gives the handle of one that it has just completed to
// another thread's.
#include "mpi/handles/requests/request_record.hpp"

#include <array>

#include "doctest/doctest.h"
#include "mpi/testing/handles.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

// Remembered whatever MPI knows of losses.
RequestRecord send_to(int peer) {
  need_mpi();
  return {.comm = MPI_COMM_SELF,
          .peer = peer,
          .kind = RequestRecord::Kind::send,
          .needs_receiver = true};
}

RequestRecord persistent_send_to(int peer) {
  need_mpi();
  return {.comm = MPI_COMM_SELF,
          .peer = peer,
          .kind = RequestRecord::Kind::send,
          .is_persistent = true};
}

int peer_of(MPI_Request request) {
  const auto record = recall(request);
  return record ? record->peer : -1;
}

}  // namespace

TEST_CASE(
    "request record: who has completed a request forgets it, and not the next one of its handle") {
  remember(handle(0), send_to(1));
  const auto was = recall(handle(0));
  remember(handle(0), send_to(2));  // by another thread: MPI has completed the first one
  CHECK(note_completion(was, handle(0), MPI_REQUEST_NULL));
  CHECK(peer_of(handle(0)) == 2);
  CHECK(note_completion(recall(handle(0)), handle(0), MPI_REQUEST_NULL));
  CHECK_FALSE(recall(handle(0)));
  CHECK_FALSE(is_any_remembered());
}

TEST_CASE("request record: what becomes of a request is not said of the next one of its handle") {
  remember(handle(0), send_to(1));
  auto was = recall(handle(0));
  was->hopeless_looks = 7;
  update(handle(0), *was);
  CHECK(recall(handle(0))->hopeless_looks == 7);
  remember(handle(0), send_to(2));
  update(handle(0), *was);
  CHECK(peer_of(handle(0)) == 2);
  CHECK(recall(handle(0))->hopeless_looks == 0);
  note_completion(was, handle(0), handle(0));
  CHECK(recall(handle(0))->is_started);
  forget(handle(0));
  CHECK_FALSE(is_any_remembered());
}

TEST_CASE(
    "request record: of several that are completed at once each is forgotten, and nothing else") {
  remember(handle(0), send_to(1));
  remember(handle(2), send_to(3));
  std::array requests{handle(0), handle(1), handle(2)};
  const Recalled recalled(3, requests.data());
  CHECK_FALSE(recalled.is_empty());
  CHECK(recalled[0]->peer == 1);
  CHECK_FALSE(recalled[1]);
  remember(handle(0), send_to(4));
  requests.fill(MPI_REQUEST_NULL);
  recalled.note_completions(requests.data());
  CHECK(peer_of(handle(0)) == 4);
  CHECK_FALSE(recall(handle(2)));
  forget(handle(0));
  CHECK(Recalled(3, requests.data()).is_empty());
}

TEST_CASE("request record: a persistent request stays the same one, whether it is started or not") {
  remember(handle(0), persistent_send_to(1));
  CHECK_FALSE(recall(handle(0))->is_started);
  for (int round = 0; round < 2; ++round) {
    note_start(handle(0));
    const auto was = recall(handle(0));
    CHECK(was->is_started);
    CHECK(note_completion(was, handle(0), handle(0)));
    CHECK_FALSE(recall(handle(0))->is_started);
    CHECK(recall(handle(0))->serial == was->serial);
  }
  forget(handle(0));
}

TEST_CASE(
    "request record: the completion of a request says that its communicator may be freed by now") {
  remember(handle(0), send_to(1));
  const auto was = recall(handle(0));
  CHECK(forget_requests_of(MPI_COMM_SELF) == 1);
  CHECK_FALSE(note_completion(was, handle(0), MPI_REQUEST_NULL));
  remember(handle(0), send_to(2));
  CHECK_FALSE(note_completion(was, handle(0), MPI_REQUEST_NULL));
  CHECK(peer_of(handle(0)) == 2);
  forget(handle(0));
}
