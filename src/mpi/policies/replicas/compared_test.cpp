#include "mpi/policies/replicas/blocking_collective.hpp"

#include <array>

#include "doctest/doctest.h"
#include "mpi/policies/digests/digest.hpp"
#include "mpi/policies/replicas/compared_pair.hpp"

using namespace resprout;
using namespace resprout::shim;
using protocols::VoteMethod;
using runtime::Stream;

namespace {

constexpr std::array<int, 3> contribution{1, 2, 3};

// A collective that gives those and gets others.
void call(MPI_Comm comm, std::array<int, 3> result = {}) {
  const Compared compared(comm, "allreduce", [&](CallData& call_data) {
    call_data.give(contribution.data(), 3, MPI_INT);
    call_data.get(result.data(), 3, MPI_INT);
  });
  result = {4, 5, 6};
}

struct Collective {
  const char* name;
  bool has_result;
  int (*run)(const void* in, void* out, MPI_Comm comm);
};

const int three = 3;
const int none = 0;
const MPI_Datatype type = MPI_INT;

const Collective collectives[] = {
    {"allreduce", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, c);
     }},
    {"reduce", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Reduce(in, out, 3, MPI_INT, MPI_SUM, 0, c);
     }},
    {"scan", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, c);
     }},
    {"exscan", false,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Exscan(in, out, 3, MPI_INT, MPI_SUM, c);
     }},
    {"gather", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Gather(in, 3, MPI_INT, out, 3, MPI_INT, 0, c);
     }},
    {"gatherv", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Gatherv(in, 3, MPI_INT, out, &three, &none, MPI_INT, 0, c);
     }},
    {"allgather", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Allgather(in, 3, MPI_INT, out, 3, MPI_INT, c);
     }},
    {"allgatherv", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Allgatherv(in, 3, MPI_INT, out, &three, &none, MPI_INT, c);
     }},
    {"reduce_scatter", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Reduce_scatter(in, out, &three, MPI_INT, MPI_SUM, c);
     }},
    {"reduce_scatter_block", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Reduce_scatter_block(in, out, 3, MPI_INT, MPI_SUM, c);
     }},
    {"alltoall", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Alltoall(in, 3, MPI_INT, out, 3, MPI_INT, c);
     }},
    {"alltoallv", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Alltoallv(in, &three, &none, MPI_INT, out, &three, &none, MPI_INT, c);
     }},
    {"alltoallw", true,
     [](const void* in, void* out, MPI_Comm c) {
       return MPI_Alltoallw(in, &three, &none, &type, out, &three, &none, &type, c);
     }},
};

}  // namespace

TEST_CASE("what a collective was given and what it has left are compared, in the order of calls") {
  for (const VoteMethod method : {VoteMethod::msg_plus_hash, VoteMethod::async_hash}) {
    Pair pair(method);
    call(pair.comm);
    call(pair.comm);
    pair.answer();
    REQUIRE(pair.names.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(pair.names[i].number == i / 2 + 1);
      CHECK(pair.names[i].stream.of ==
            (i % 2 == 0 ? Stream::Of::contributions : Stream::Of::results));
      CHECK(pair.names[i].stream.communicator == *name_of(pair.comm));
    }
    CHECK(pair.findings.empty());
  }
}

TEST_CASE("digests are those of the data before and after the call") {
  Pair pair(VoteMethod::async_hash);
  call(pair.comm);
  REQUIRE(pair.sent.size() == 2);
  const std::array<int, 3> result{4, 5, 6};
  CHECK(pair.sent[0].message.digests[0] == digest_of(contribution.data(), 3, MPI_INT).low);
  CHECK(pair.sent[1].message.digests[0] == digest_of(result.data(), 3, MPI_INT).low);
}

TEST_CASE("a difference is found, whichever side it is on") {
  for (const VoteMethod method : {VoteMethod::msg_plus_hash, VoteMethod::async_hash})
    for (const Stream::Of side : {Stream::Of::contributions, Stream::Of::results}) {
      Pair pair(method);
      pair.differs = side;
      call(pair.comm);
      pair.answer();
      REQUIRE(pair.findings.size() == 1);
      CHECK(pair.findings[0].name.stream.of == side);
      CHECK(pair.findings[0].name.number == 1);
      CHECK(pair.findings[0].call == "allreduce");
      CHECK(pair.findings[0].bytes == 12);
    }
}

TEST_CASE("a communicator without a name is passed over, and counted") {
  Pair pair(VoteMethod::async_hash);
  MPI_Comm unnamed = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &unnamed);
  call(unnamed);
  PMPI_Comm_free(&unnamed);
  CHECK(pair.sent.empty());
  CHECK(pair.skipped() == 1);
}

TEST_CASE("arguments that MPI would refuse are not looked at") {
  CallData call_data(0, 2);
  call_data.give(MPI_IN_PLACE, 3, MPI_INT);
  call_data.give(contribution.data(), -1, MPI_INT);
  call_data.give(contribution.data(), 3, MPI_DATATYPE_NULL);
  call_data.give_all(Pieces(contribution.data(), -1, MPI_INT));
  CHECK(call_data.given().empty());
}

// In a communicator of one everybody gets what it has given.
TEST_CASE("every blocking collective says what it is given and what it gives") {
  const Digest128 given = digest_of(contribution.data(), 3, MPI_INT);
  const Digest128 nothing = digest_of_packed({});
  for (const Collective& collective : collectives)
    for (const bool is_in_place : {false, true}) {
      CAPTURE(collective.name);
      CAPTURE(is_in_place);
      Pair pair(VoteMethod::async_hash);
      std::array<int, 3> out = is_in_place ? contribution : std::array<int, 3>{};
      const void* in = is_in_place ? MPI_IN_PLACE : contribution.data();
      CHECK(collective.run(in, out.data(), pair.comm) == MPI_SUCCESS);
      REQUIRE(pair.sent.size() == 2);
      CHECK(pair.sent[0].message.digests[0] == given.low);
      CHECK(pair.sent[1].message.digests[0] == (collective.has_result ? given : nothing).low);
    }
}

TEST_CASE("what a root gives is its contribution, what others get their result") {
  const Digest128 given = digest_of(contribution.data(), 3, MPI_INT);
  const Digest128 nothing = digest_of_packed({});
  std::array<int, 3> data = contribution;
  const auto check = [&](const Digest128& result, auto run) {
    Pair pair(VoteMethod::async_hash);
    run(pair.comm);
    REQUIRE(pair.sent.size() == 2);
    CHECK(pair.sent[0].message.digests[0] == given.low);
    CHECK(pair.sent[1].message.digests[0] == result.low);
  };
  check(nothing, [&](MPI_Comm comm) { MPI_Bcast(data.data(), 3, MPI_INT, 0, comm); });
  check(nothing, [&](MPI_Comm comm) {
    MPI_Scatter(contribution.data(), 3, MPI_INT, MPI_IN_PLACE, 3, MPI_INT, 0, comm);
  });
  std::array<int, 3> out{};
  check(given, [&](MPI_Comm comm) {
    MPI_Scatter(contribution.data(), 3, MPI_INT, out.data(), 3, MPI_INT, 0, comm);
  });
  check(given, [&](MPI_Comm comm) {
    MPI_Scatterv(contribution.data(), &three, &none, MPI_INT, out.data(), 3, MPI_INT, 0, comm);
  });
}

TEST_CASE("who need not wait says what others wait for all the same, if that lingers") {
  for (const bool lingers : {false, true}) {
    CAPTURE(lingers);
    Pair pair(VoteMethod::msg_plus_hash);
    if (lingers) pair.let_linger();
    call(pair.comm);
    // Each of the two waits has an answer after one look.
    CHECK(pair.said == (lingers ? 4 : 2));
  }
}
