#include "mpi/policies/replicas/messages.hpp"

#include <array>
#include <utility>

#include "doctest/doctest.h"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout;
using namespace resprout::shim;
using protocols::VoteMethod;

namespace {

using Numbers = std::array<int, 3>;

// A rank of two replicas that sends to itself; the test plays the other replica.
class Pair final : public runtime::VoteNetwork {
 public:
  explicit Pair(VoteMethod method)
      : config_{method, 2, protocols::Unproven::own},
        verifier_({.config = config_, .self = {0, 0}}, *this,
                  [this](const auto& it) { findings.push_back(it); }),
        messages({.verifier = &verifier_,
                  .sends_bytes = !config_.sends_digests(),
                  .meanwhile = [this] { answer(); }}) {
    need_mpi();
    PMPI_Comm_dup(MPI_COMM_SELF, &comm);
    name_child(MPI_COMM_SELF, comm);
  }
  ~Pair() { PMPI_Comm_free(&comm); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  // The sibling has sent the same, or something else.
  void answer() {
    for (runtime::VoteFrame frame : std::exchange(sent_, {})) {
      if (frame.kind != runtime::VoteFrame::Kind::vote) continue;
      names.push_back(frame.name);
      frame.message.from = config_.sender(1);
      frame.message.to = config_.receiver(0);
      frame.message.origins = 2;
      frame.message.digests[1] = frame.message.digests[0] ^ (differs ? 1U : 0U);
      verifier_.handle({1, 0}, runtime::bytes_of(frame));
    }
  }

  // Sends `numbers` with `tag`, of which MPI has a request.
  MPI_Request send(const Numbers& numbers, int tag) {
    const SendBuffer buffer{numbers.data(), 3, MPI_INT};
    messages.send(buffer, {"isend", comm, 0, tag});
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(numbers.data(), 3, MPI_INT, 0, tag, comm, &request);
    return request;
  }
  MPI_Request receive(Numbers& numbers, int tag) {
    const auto ticket = messages.post(comm, 0, tag);
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(numbers.data(), 3, MPI_INT, 0, tag, comm, &request);
    if (ticket) messages.remember(request, *ticket, {"irecv", numbers.data(), 3, MPI_INT}, 0);
    return request;
  }
  void complete(MPI_Request request) {
    const Messages::Claim claim = messages.claim(request);
    MPI_Status status;
    PMPI_Wait(&request, &status);
    messages.complete(claim, request, status);
  }

  runtime::Verifier::Figures figures() { return verifier_.figures(); }

  MPI_Comm comm = MPI_COMM_NULL;
  bool differs = false;
  std::vector<runtime::MessageName> names;  // in the order in which they were sent
  std::vector<runtime::Finding> findings;

 private:
  void send(runtime::Replica to, const runtime::VoteFrame& frame,
            std::span<const std::byte>) override {
    CHECK(to == runtime::Replica{1, 0});
    sent_.push_back(frame);
  }

  const protocols::DigestVoteConfig config_;
  std::vector<runtime::VoteFrame> sent_;
  runtime::Verifier verifier_;

 public:
  Messages messages;
};

constexpr Numbers data{1, 2, 3};

}  // namespace

TEST_CASE("a message is verified when the sibling has sent the same") {
  for (const VoteMethod method : {VoteMethod::msg_plus_hash, VoteMethod::async_hash}) {
    CAPTURE(static_cast<int>(method));
    Pair pair(method);
    Numbers got{};
    const MPI_Request receive = pair.receive(got, 7);
    MPI_Request send = pair.send(data, 7);
    pair.complete(receive);
    pair.answer();
    CHECK(got == data);
    CHECK(pair.findings.empty());
    CHECK(pair.figures().verified == 1);
    PMPI_Wait(&send, MPI_STATUS_IGNORE);
  }
}

TEST_CASE("one that the sibling has sent otherwise is found, with its call, tag and size") {
  for (const VoteMethod method : {VoteMethod::msg_plus_hash, VoteMethod::async_hash}) {
    CAPTURE(static_cast<int>(method));
    Pair pair(method);
    pair.differs = true;
    Numbers got{};
    const MPI_Request receive = pair.receive(got, 7);
    MPI_Request send = pair.send(data, 7);
    pair.complete(receive);
    pair.answer();
    REQUIRE(pair.findings.size() == 1);
    CHECK(pair.findings[0].call == "irecv");
    CHECK(pair.findings[0].name.stream.tag == 7);
    CHECK(pair.findings[0].bytes == sizeof data);
    CHECK(pair.findings[0].end == runtime::Finding::End::undecided);
    PMPI_Wait(&send, MPI_STATUS_IGNORE);
  }
}

TEST_CASE("a receive behind a wildcard has its name when it is known what that has taken") {
  Pair pair(VoteMethod::msg_plus_hash);
  Numbers first{};
  Numbers second{};
  const MPI_Request wild = pair.receive(first, MPI_ANY_TAG);
  const MPI_Request plain = pair.receive(second, 7);
  MPI_Request sent[] = {pair.send(data, 7), pair.send({4, 5, 6}, 7)};
  pair.complete(plain);  // though nobody has asked for the first one yet
  pair.complete(wild);
  CHECK(first == data);
  CHECK(second == Numbers{4, 5, 6});
  CHECK(pair.figures().verified == 2);
  CHECK(pair.names[1].number == 2);
  PMPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
}

TEST_CASE("each start of a persistent request is a message") {
  Pair pair(VoteMethod::msg_plus_hash);
  Numbers out = data;
  Numbers got{};
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  PMPI_Send_init(out.data(), 3, MPI_INT, 0, 7, pair.comm, &send);
  PMPI_Recv_init(got.data(), 3, MPI_INT, 0, 7, pair.comm, &receive);
  pair.messages.remember_persistent_send(send, {out.data(), 3, MPI_INT},
                                         {"send_init", pair.comm, 0, 7});
  pair.messages.remember_persistent_receive(receive, {"recv_init", got.data(), 3, MPI_INT},
                                            {"recv_init", pair.comm, 0, 7});
  for (int round = 1; round <= 3; ++round) {
    out[0] = round;
    for (MPI_Request* request : {&receive, &send}) {
      pair.messages.start(*request);
      PMPI_Start(request);
    }
    CHECK(pair.messages.is_receiving(receive));
    pair.complete(receive);
    PMPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(got == out);
  }
  CHECK(!pair.messages.is_receiving(receive));
  CHECK(pair.figures().verified == 3);
  for (MPI_Request* request : {&receive, &send}) {
    pair.messages.forget(*request);
    PMPI_Request_free(request);
  }
}

TEST_CASE("messages on a communicator without a name are counted, and not verified") {
  Pair pair(VoteMethod::msg_plus_hash);
  MPI_Comm unnamed = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &unnamed);
  pair.messages.send({data.data(), 3, MPI_INT}, {"send", unnamed, 0, 7});
  CHECK(!pair.messages.post(unnamed, 0, 7));
  CHECK(pair.messages.skipped() == 2);
  pair.messages.send({data.data(), 3, MPI_INT}, {"send", pair.comm, MPI_PROC_NULL, 7});
  CHECK(!pair.messages.post(pair.comm, MPI_PROC_NULL, 7));
  CHECK(pair.messages.skipped() == 2);
  PMPI_Comm_free(&unnamed);
}
