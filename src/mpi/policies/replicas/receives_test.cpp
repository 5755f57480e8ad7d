#include "mpi/policies/replicas/receives.hpp"

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"
#include "runtime/replicas/decisions_test.hpp"

using namespace resprout;
using namespace resprout::shim;
using runtime::testing::DecidingReplicas;

namespace {

MPI_Comm duplicate_of_self() {
  need_mpi();
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

// A rank in one plane, which sends to itself.
struct Plane {
  Plane(DecidingReplicas& replicas, int plane)
      : comm(duplicate_of_self()),
        decided(replicas[plane], replicas.delivering()),
        receives(decided) {}
  ~Plane() { PMPI_Comm_free(&comm); }
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  void send(int value, int tag) { PMPI_Send(&value, 1, MPI_INT, 0, tag, comm); }
  MPI_Request receive(int& value, int source, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(receives.start({&value, 1, MPI_INT, source, tag, comm}, &request) == MPI_SUCCESS);
    return request;
  }
  bool is_complete(MPI_Request request) {
    receives.advance();
    int flag = 0;
    PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }
  int wait(MPI_Request& request, MPI_Status& status) {
    receives.advance();
    const Receives::Claim claim = receives.claim(request);
    PMPI_Wait(&request, &status);
    return receives.complete(claim, request, status);
  }
  int tag_of(MPI_Request& request) {
    MPI_Status status;
    CHECK(wait(request, status) == MPI_SUCCESS);
    return status.MPI_TAG;
  }

  MPI_Comm comm;
  Decided decided;
  Receives receives;
};

struct Two {
  DecidingReplicas replicas{{}};
  Plane leader{replicas, 0};
  Plane follower{replicas, 1};
};

bool is_cancelled(const MPI_Status& status) {
  int flag = 0;
  PMPI_Test_cancelled(&status, &flag);
  return flag != 0;
}

}  // namespace

TEST_CASE("receives: a follower takes what the leader has taken, though it came later there") {
  Two two;
  int here = 0, there = 0, there_named = 0;
  MPI_Request first = two.leader.receive(here, MPI_ANY_SOURCE, MPI_ANY_TAG);
  MPI_Request second = two.follower.receive(there, MPI_ANY_SOURCE, MPI_ANY_TAG);
  MPI_Request behind = two.follower.receive(there_named, 0, 6);
  two.follower.send(60, 6);
  two.follower.send(50, 5);
  CHECK_FALSE(two.follower.is_complete(second));
  CHECK_FALSE(two.follower.is_complete(behind));
  two.leader.send(50, 5);
  CHECK(two.leader.tag_of(first) == 5);
  two.replicas.deliver_all();
  CHECK(two.follower.tag_of(second) == 5);
  CHECK(two.follower.tag_of(behind) == 6);
  CHECK(there == 50);
  CHECK(there_named == 60);
}

TEST_CASE("receives: what the leader has cancelled takes no message that a follower has") {
  Two two;
  int here = 0, there = 0;
  MPI_Request first = two.leader.receive(here, MPI_ANY_SOURCE, 5);
  MPI_Request second = two.follower.receive(there, MPI_ANY_SOURCE, 5);
  two.follower.send(50, 5);
  CHECK(two.follower.receives.maybe_cancel(second));
  CHECK_FALSE(two.follower.is_complete(second));
  CHECK(two.leader.receives.maybe_cancel(first));
  two.replicas.deliver_all();
  MPI_Status status;
  two.leader.wait(first, status);
  CHECK(is_cancelled(status));
  two.follower.wait(second, status);
  CHECK(is_cancelled(status));
  PMPI_Recv(&there, 1, MPI_INT, 0, 5, two.follower.comm, MPI_STATUS_IGNORE);
  CHECK(there == 50);
}

TEST_CASE("receives: one that had its message before it was cancelled is received everywhere") {
  Two two;
  int here = 0, there = 0;
  two.leader.send(50, 5);
  MPI_Request first = two.leader.receive(here, MPI_ANY_SOURCE, 5);
  MPI_Request second = two.follower.receive(there, MPI_ANY_SOURCE, 5);
  CHECK(two.leader.receives.maybe_cancel(first));
  CHECK(two.follower.receives.maybe_cancel(second));
  two.replicas.deliver_all();
  two.follower.send(50, 5);
  CHECK(two.leader.tag_of(first) == 5);
  CHECK(two.follower.tag_of(second) == 5);
  CHECK(there == 50);
}

TEST_CASE("receives: one that names its source is not cancelled here") {
  Two two;
  int value = 0;
  MPI_Request request = two.leader.receive(value, 0, 5);
  CHECK_FALSE(two.leader.receives.maybe_cancel(request));
  two.leader.send(50, 5);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST_CASE("receives: a new leader gives to MPI what was held back, and its datatype may be gone") {
  Two two;
  int value[2] = {0, 0};
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(2, MPI_INT, &pair);
  PMPI_Type_commit(&pair);
  MPI_Request request = MPI_REQUEST_NULL;
  two.follower.receives.start({value, 1, pair, MPI_ANY_SOURCE, 5, two.follower.comm}, &request);
  PMPI_Type_free(&pair);
  const int sent[2] = {7, 8};
  PMPI_Send(sent, 2, MPI_INT, 0, 5, two.follower.comm);
  CHECK_FALSE(two.follower.is_complete(request));
  two.replicas.lose(0);
  CHECK(two.follower.tag_of(request) == 5);
  CHECK(value[1] == 8);
}

TEST_CASE("receives: each start of a persistent one is another wildcard") {
  Two two;
  int here = 0, there = 0;
  MPI_Request first = MPI_REQUEST_NULL, second = MPI_REQUEST_NULL;
  two.leader.receives.init({&here, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, two.leader.comm},
                           &first);
  two.follower.receives.init({&there, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, two.follower.comm},
                             &second);
  for (const int tag : {5, 6}) {
    two.leader.receives.start_again(first);
    two.leader.send(10 * tag, tag);
    CHECK(two.leader.tag_of(first) == tag);
  }
  two.replicas.deliver_all();
  two.follower.send(60, 6);
  two.follower.send(50, 5);
  for (const int tag : {5, 6}) {
    two.follower.receives.start_again(second);
    CHECK(two.follower.tag_of(second) == tag);
    CHECK(there == 10 * tag);
  }
  two.leader.receives.forget(first);
  two.follower.receives.forget(second);
  PMPI_Request_free(&first);
  PMPI_Request_free(&second);
}

TEST_CASE(
    "receives: a persistent one with a source is MPI's own, but for starts behind a wildcard") {
  Two two;
  Plane& plane = two.follower;
  int here = 0, any = 0, named = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  plane.receives.init({&named, 1, MPI_INT, 0, 5, plane.comm}, &request);
  for (const int round : {10, 20}) {
    plane.receives.start_again(request);
    CHECK(plane.receives.stand_in_of(request) == request);
    plane.send(round, 5);
    CHECK(plane.tag_of(request) == 5);
    CHECK(named == round);

    MPI_Request wildcard = plane.receive(any, MPI_ANY_SOURCE, MPI_ANY_TAG);
    plane.receives.start_again(request);
    MPI_Request stand_in = plane.receives.stand_in_of(request);
    CHECK(stand_in != request);
    CHECK(plane.receives.has_stand_ins());
    plane.send(round + 1, 5);
    plane.send(round + 2, 5);
    CHECK_FALSE(plane.is_complete(stand_in));
    MPI_Request first = two.leader.receive(here, MPI_ANY_SOURCE, MPI_ANY_TAG);
    two.leader.send(round + 1, 5);
    CHECK(two.leader.tag_of(first) == 5);
    two.replicas.deliver_all();
    CHECK(plane.tag_of(wildcard) == 5);
    CHECK(any == round + 1);
    PMPI_Wait(&stand_in, &status);
    CHECK(plane.receives.complete(plane.receives.claim(request), stand_in, status) == MPI_SUCCESS);
    CHECK(status.MPI_TAG == 5);
    CHECK(named == round + 2);
    CHECK_FALSE(plane.receives.has_stand_ins());
  }
  plane.receives.forget(request);
  PMPI_Request_free(&request);
}

TEST_CASE(
    "receives: what is open at the end is cancelled where it is decided, and then elsewhere") {
  Two two;
  int here = 0, there = 0;
  two.leader.receive(here, MPI_ANY_SOURCE, 5);
  two.follower.receive(there, MPI_ANY_SOURCE, 5);
  two.leader.receives.close([] {});
  int looks = 0;
  two.follower.receives.close([&] {
    if (++looks == 3) two.replicas.deliver_all();
  });
  CHECK(looks == 3);
}
