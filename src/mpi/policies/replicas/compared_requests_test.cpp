#include "mpi/policies/replicas/compared_requests.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/policies/digests/digest.hpp"
#include "mpi/policies/replicas/compared_pair.hpp"

using namespace resprout;
using namespace resprout::shim;
using protocols::VoteMethod;
using runtime::Stream;

namespace {

using Numbers = std::array<int, 3>;

constexpr Numbers contribution{1, 2, 3};
const int three = 3;
const int none = 0;
const MPI_Datatype type = MPI_INT;

// A sum that is started like this one is nothing that MPI knows, so it is over when the test says.
class Started {
 public:
  Started(MPI_Comm comm, Numbers& in, Numbers& out) {
    ComparedStart compared(comm, "iallreduce",
                           call_data_of::allreduce(in.data(), out.data(), 3, MPI_INT, MPI_SUM));
    PMPI_Irecv(nullptr, 0, MPI_INT, 0, tag_, MPI_COMM_SELF, &request_);
    compared.go_on_as(request_);
  }
  void complete() {
    const auto claim = claim_compared(request_);
    PMPI_Send(nullptr, 0, MPI_INT, 0, tag_, MPI_COMM_SELF);
    PMPI_Wait(&request_, MPI_STATUS_IGNORE);
    complete_compared(claim, request_);
  }

 private:
  inline static int last_tag = 0;
  const int tag_ = ++last_tag;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

struct Form {
  const char* name;
  bool has_result;
  int (*run)(const void* in, void* out, MPI_Comm comm, MPI_Request* request);
};

// One call that makes a request.
#define COLLECTIVE(name, has_result, ...)                                         \
  {#name, has_result, [](const void* in, void* out, MPI_Comm c, MPI_Request* r) { \
     static_cast<void>(in);                                                       \
     return name(__VA_ARGS__, r);                                                 \
   }}

const Form forms[] = {
    COLLECTIVE(MPI_Iallreduce, true, in, out, 3, MPI_INT, MPI_SUM, c),
    COLLECTIVE(MPI_Ireduce, true, in, out, 3, MPI_INT, MPI_SUM, 0, c),
    COLLECTIVE(MPI_Iscan, true, in, out, 3, MPI_INT, MPI_SUM, c),
    COLLECTIVE(MPI_Iexscan, false, in, out, 3, MPI_INT, MPI_SUM, c),
    COLLECTIVE(MPI_Igather, true, in, 3, MPI_INT, out, 3, MPI_INT, 0, c),
    COLLECTIVE(MPI_Igatherv, true, in, 3, MPI_INT, out, &three, &none, MPI_INT, 0, c),
    COLLECTIVE(MPI_Iallgather, true, in, 3, MPI_INT, out, 3, MPI_INT, c),
    COLLECTIVE(MPI_Iallgatherv, true, in, 3, MPI_INT, out, &three, &none, MPI_INT, c),
    COLLECTIVE(MPI_Ireduce_scatter, true, in, out, &three, MPI_INT, MPI_SUM, c),
    COLLECTIVE(MPI_Ireduce_scatter_block, true, in, out, 3, MPI_INT, MPI_SUM, c),
    COLLECTIVE(MPI_Ialltoall, true, in, 3, MPI_INT, out, 3, MPI_INT, c),
    COLLECTIVE(MPI_Ialltoallv, true, in, &three, &none, MPI_INT, out, &three, &none, MPI_INT, c),
    COLLECTIVE(MPI_Ialltoallw, true, in, &three, &none, &type, out, &three, &none, &type, c),
#if RESPROUT_HAS_PERSISTENT_COLLECTIVES
    COLLECTIVE(MPI_Allreduce_init, true, in, out, 3, MPI_INT, MPI_SUM, c, MPI_INFO_NULL),
    COLLECTIVE(MPI_Reduce_init, true, in, out, 3, MPI_INT, MPI_SUM, 0, c, MPI_INFO_NULL),
    COLLECTIVE(MPI_Scan_init, true, in, out, 3, MPI_INT, MPI_SUM, c, MPI_INFO_NULL),
    COLLECTIVE(MPI_Exscan_init, false, in, out, 3, MPI_INT, MPI_SUM, c, MPI_INFO_NULL),
    COLLECTIVE(MPI_Gather_init, true, in, 3, MPI_INT, out, 3, MPI_INT, 0, c, MPI_INFO_NULL),
    COLLECTIVE(MPI_Allgather_init, true, in, 3, MPI_INT, out, 3, MPI_INT, c, MPI_INFO_NULL),
    COLLECTIVE(MPI_Reduce_scatter_init, true, in, out, &three, MPI_INT, MPI_SUM, c, MPI_INFO_NULL),
    COLLECTIVE(MPI_Alltoall_init, true, in, 3, MPI_INT, out, 3, MPI_INT, c, MPI_INFO_NULL),
#endif
};
#undef COLLECTIVE

bool is_persistent(const Form& form) { return std::string_view(form.name).ends_with("_init"); }

// From the call that starts it to the one that completes it, as the program's calls do it.
void start_and_complete(MPI_Request& request, bool starts) {
  if (starts) {
    start_compared(request);
    PMPI_Start(&request);
  }
  const auto claim = claim_compared(request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  complete_compared(claim, request);
}

}  // namespace

TEST_CASE("what is given is compared when it starts, what is got when it is complete") {
  Pair pair(VoteMethod::async_hash);
  Numbers in = contribution;
  Numbers out{};
  Started sum(pair.comm, in, out);
  REQUIRE(pair.sent.size() == 1);
  CHECK(pair.sent[0].name.stream.of == Stream::Of::contributions);
  CHECK(pair.sent[0].message.digests[0] == digest_of(contribution.data(), 3, MPI_INT).low);
  out = {4, 5, 6};
  sum.complete();
  REQUIRE(pair.sent.size() == 2);
  CHECK(pair.sent[1].name.stream.of == Stream::Of::results);
  CHECK(pair.sent[1].message.digests[0] == digest_of(out.data(), 3, MPI_INT).low);
}

TEST_CASE("with an eager method either call waits for what it compares, with a lazy one not") {
  Pair eager(VoteMethod::msg_plus_hash);
  Numbers in = contribution;
  Numbers out{};
  Started sum(eager.comm, in, out);
  CHECK(eager.sent.empty());
  CHECK(eager.names.size() == 1);
  sum.complete();
  CHECK(eager.sent.empty());
  CHECK(eager.names.size() == 2);
  Pair lazy(VoteMethod::async_hash);
  Started(lazy.comm, in, out).complete();
  CHECK(lazy.sent.size() == 2);
}

TEST_CASE("several have the numbers of their starts, in whichever order they end") {
  Pair pair(VoteMethod::async_hash);
  Numbers in = contribution;
  Numbers first_out{};
  Numbers second_out{};
  Started first(pair.comm, in, first_out);
  Started second(pair.comm, in, second_out);
  second_out = {4, 5, 6};
  second.complete();
  first.complete();
  REQUIRE(pair.sent.size() == 4);
  const std::uint64_t numbers[] = {1, 2, 2, 1};
  for (std::size_t i = 0; i < 4; ++i) CHECK(pair.sent[i].name.number == numbers[i]);
  CHECK(pair.sent[2].message.digests[0] == digest_of(second_out.data(), 3, MPI_INT).low);
}

TEST_CASE("a difference between started collectives is found, whichever side it is on") {
  for (const Stream::Of side : {Stream::Of::contributions, Stream::Of::results}) {
    Pair pair(VoteMethod::msg_plus_hash);
    pair.differs = side;
    Numbers in = contribution;
    Numbers out{};
    Started(pair.comm, in, out).complete();
    REQUIRE(pair.findings.size() == 1);
    CHECK(pair.findings[0].name.stream.of == side);
    CHECK(pair.findings[0].call == "iallreduce");
  }
}

TEST_CASE("a datatype may be freed while its collective is under way") {
  Pair pair(VoteMethod::async_hash);
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  PMPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
  PMPI_Type_commit(&every_other);
  Numbers data = contribution;
  ComparedStart compared(
      pair.comm, "iallreduce",
      call_data_of::allreduce(MPI_IN_PLACE, data.data(), 1, every_other, MPI_SUM));
  PMPI_Type_free(&every_other);
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Irecv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  compared.go_on_as(request);
  data = {4, 5, 6};
  complete_compared(claim_compared(request), MPI_REQUEST_NULL);
  PMPI_Cancel(&request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  REQUIRE(pair.sent.size() == 2);
  const int ends[] = {4, 6};
  CHECK(pair.sent[1].message.digests[0] == digest_of(ends, 2, MPI_INT).low);
}

TEST_CASE("a persistent collective is a new one at each start, with what is in its buffer then") {
  Pair pair(VoteMethod::msg_plus_hash);
  Numbers in = contribution;
  Numbers out{};
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Recv_init(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
  remember_compared(request, pair.comm, "allreduce_init",
                    call_data_of::allreduce(in.data(), out.data(), 3, MPI_INT, MPI_SUM));
  CHECK(pair.names.empty());
  complete_compared(claim_compared(request), request);  // not started
  CHECK(pair.names.empty());
  std::vector<std::uint64_t> digests;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    in[0] = static_cast<int>(number);
    start_compared(request);
    REQUIRE(pair.names.size() == 2 * number - 1);
    CHECK(pair.names.back().number == number);
    CHECK(pair.digests.back() == digest_of(in.data(), 3, MPI_INT).low);
    complete_compared(claim_compared(request), request);
    CHECK(pair.names.size() == 2 * number);
  }
  forget_compared(request);
  start_compared(request);
  CHECK(pair.sent.empty());
  PMPI_Request_free(&request);
}

TEST_CASE("a started collective on a communicator without a name is counted at each start") {
  Pair pair(VoteMethod::msg_plus_hash);
  MPI_Comm unnamed = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &unnamed);
  Numbers in = contribution;
  Numbers out{};
  Started(unnamed, in, out).complete();
  Started(unnamed, in, out).complete();
  PMPI_Comm_free(&unnamed);
  CHECK(pair.sent.empty());
  CHECK(pair.skipped() == 2);
}

// In a communicator of one everybody gets what it has given.
TEST_CASE("every collective that is started says what it is given and what it gives") {
  const Digest128 given = digest_of(contribution.data(), 3, MPI_INT);
  const Digest128 nothing = digest_of_packed({});
  for (const Form& form : forms)
    for (const bool is_in_place : {false, true}) {
      CAPTURE(form.name);
      CAPTURE(is_in_place);
      Pair pair(VoteMethod::async_hash);
      Numbers out = is_in_place ? contribution : Numbers{};
      const void* in = is_in_place ? MPI_IN_PLACE : contribution.data();
      MPI_Request request = MPI_REQUEST_NULL;
      CHECK(form.run(in, out.data(), pair.comm, &request) == MPI_SUCCESS);
      start_and_complete(request, is_persistent(form));
      REQUIRE(pair.sent.size() == 2);
      CHECK(pair.sent[0].message.digests[0] == given.low);
      CHECK(pair.sent[1].message.digests[0] == (form.has_result ? given : nothing).low);
      if (request != MPI_REQUEST_NULL) {
        forget_compared(request);
        PMPI_Request_free(&request);
      }
    }
}

TEST_CASE("the same for broadcasts and scatters") {
  const Digest128 given = digest_of(contribution.data(), 3, MPI_INT);
  const Digest128 nothing = digest_of_packed({});
  Numbers data = contribution;
  Numbers out{};
  const auto check = [&](const Digest128& result, bool is_persistent, auto run) {
    Pair pair(VoteMethod::async_hash);
    MPI_Request request = MPI_REQUEST_NULL;
    run(pair.comm, &request);
    start_and_complete(request, is_persistent);
    REQUIRE(pair.sent.size() == 2);
    CHECK(pair.sent[0].message.digests[0] == given.low);
    CHECK(pair.sent[1].message.digests[0] == result.low);
    if (request == MPI_REQUEST_NULL) return;
    forget_compared(request);
    PMPI_Request_free(&request);
  };
  check(nothing, false, [&](MPI_Comm comm, MPI_Request* request) {
    MPI_Ibcast(data.data(), 3, MPI_INT, 0, comm, request);
  });
  check(given, false, [&](MPI_Comm comm, MPI_Request* request) {
    MPI_Iscatter(contribution.data(), 3, MPI_INT, out.data(), 3, MPI_INT, 0, comm, request);
  });
  check(given, false, [&](MPI_Comm comm, MPI_Request* request) {
    MPI_Iscatterv(contribution.data(), &three, &none, MPI_INT, out.data(), 3, MPI_INT, 0, comm,
                  request);
  });
#if RESPROUT_HAS_PERSISTENT_COLLECTIVES
  check(nothing, true, [&](MPI_Comm comm, MPI_Request* request) {
    MPI_Bcast_init(data.data(), 3, MPI_INT, 0, comm, MPI_INFO_NULL, request);
  });
  check(given, true, [&](MPI_Comm comm, MPI_Request* request) {
    MPI_Scatter_init(contribution.data(), 3, MPI_INT, out.data(), 3, MPI_INT, 0, comm,
                     MPI_INFO_NULL, request);
  });
#endif
}
