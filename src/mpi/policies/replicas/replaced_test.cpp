// What a rank of three replicas gives to collectives, with an eager method: the majority's.
#include <array>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/policies/digests/digest.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "mpi/policies/replicas/compared_requests.hpp"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout;
using namespace resprout::shim;
using protocols::VoteMethod;
using runtime::Finding;
using runtime::MessageName;
using runtime::Replica;
using runtime::Stream;
using runtime::Verifier;

namespace {

using Numbers = std::array<int, 3>;

std::vector<std::byte> bytes_of_numbers(const Numbers& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

// This process is the one in plane 0. The others do what it does, but give `meant`, whatever it
// gives itself, and have what it has.
class Trio {
 public:
  explicit Trio(VoteMethod method) : config_{method, 3} {
    need_mpi();
    PMPI_Comm_dup(MPI_COMM_SELF, &comm);
    name_child(MPI_COMM_SELF, comm);
    for (std::int32_t plane = 0; plane < 3; ++plane)
      verifiers_.push_back(std::make_unique<Verifier>(
          runtime::Votes::Setup{.config = config_, .self = {plane, 0}},
          wires_.emplace_back(*this, plane), [this, plane](const Finding& finding) {
            if (plane == 0) findings.push_back(finding);
          }));
    state_.verifier = verifiers_[0].get();
    state_.keeps_given = true;
    state_.meanwhile = [] { current->go_on(); };
    current = this;
    comparing.store(&state_);
  }
  ~Trio() {
    comparing.store(nullptr);
    PMPI_Comm_free(&comm);
  }
  Trio(const Trio&) = delete;
  Trio& operator=(const Trio&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<std::byte> meant;
  std::vector<Finding> findings;

 private:
  struct Frame {
    Replica from;
    Replica to;
    std::vector<std::byte> bytes;
  };
  class Wire final : public runtime::VoteNetwork {
   public:
    Wire(Trio& trio, std::int32_t plane) : trio_(trio), plane_(plane) {}
    void send(Replica to, const runtime::VoteFrame& frame,
              std::span<const std::byte> bytes) override {
      const auto head = runtime::bytes_of(frame);
      Frame& sent = trio_.frames_.emplace_back(Frame{{plane_, 0}, to, {head.begin(), head.end()}});
      sent.bytes.insert(sent.bytes.end(), bytes.begin(), bytes.end());
      if (plane_ == 0 && frame.kind == runtime::VoteFrame::Kind::vote) trio_.follow(frame);
    }

   private:
    Trio& trio_;
    const std::int32_t plane_;
  };

  void go_on() {
    while (!due_.empty()) {
      const auto next = std::move(due_.front());
      due_.pop_front();
      for (const std::int32_t plane : {1, 2}) {
        Verifier& verifier = *verifiers_[static_cast<std::size_t>(plane)];
        verifier.send(next.name, next.digest, next.bytes);
        verifier.receive_copy({next.name, "sum", next.bytes.size(), no_digest}, next.digest);
      }
    }
    while (!frames_.empty()) {
      const Frame frame = std::move(frames_.front());
      frames_.pop_front();
      verifiers_[static_cast<std::size_t>(frame.to.plane)]->handle(frame.from, frame.bytes);
    }
  }

  // Its own digest is the first that it says of anything.
  void follow(const runtime::VoteFrame& frame) {
    if (!followed_.insert({frame.name.stream.of, frame.name.number}).second) return;
    const bool is_given = frame.name.stream.of == Stream::Of::contributions;
    due_.push_back({frame.name, is_given ? digest_of_packed(meant).low : frame.message.digests[0],
                    is_given ? meant : std::vector<std::byte>{}});
  }
  static std::uint64_t no_digest(std::span<const std::byte>) { return 0; }

  struct Due {
    MessageName name;
    std::uint64_t digest = 0;
    std::vector<std::byte> bytes;
  };

  inline static Trio* current = nullptr;
  const protocols::DigestVoteConfig config_;
  std::deque<Wire> wires_;
  std::vector<std::unique_ptr<Verifier>> verifiers_;
  std::deque<Frame> frames_;
  std::deque<Due> due_;
  std::set<std::pair<Stream::Of, std::uint64_t>> followed_;
  Comparing state_;
};

void check_replaced(const Trio& trio) {
  REQUIRE(trio.findings.size() == 1);
  const Finding& found = trio.findings[0];
  CHECK(found.name.stream.of == Stream::Of::contributions);
  CHECK(found.end == Finding::End::outvoted);
  CHECK(found.wrong_planes == 1);
  CHECK(!found.is_tainted);
}

constexpr VoteMethod eager[] = {VoteMethod::all_to_all, VoteMethod::msg_plus_hash};

}  // namespace

TEST_CASE("replaced: what goes into a collective is what the majority gives") {
  for (const VoteMethod method : eager)
    for (const bool is_in_place : {false, true}) {
      Trio trio(method);
      trio.meant = bytes_of_numbers({1, 2, 3});
      Numbers given{1, 2, 7};
      Numbers got = given;
      MPI_Allreduce(is_in_place ? MPI_IN_PLACE : given.data(), got.data(), 3, MPI_INT, MPI_SUM,
                    trio.comm);
      CHECK(got == Numbers{1, 2, 3});
      CHECK(given[2] == (is_in_place ? 7 : 3));
      check_replaced(trio);
    }
}

TEST_CASE("replaced: one that is started, and each start of a persistent one") {
  Trio trio(VoteMethod::msg_plus_hash);
  trio.meant = bytes_of_numbers({1, 2, 3});
  Numbers given{5, 2, 3};
  Numbers got{};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(given.data(), got.data(), 3, MPI_INT, MPI_SUM, trio.comm, &request);
  CHECK(given == Numbers{1, 2, 3});
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == Numbers{1, 2, 3});
  check_replaced(trio);
  PMPI_Recv_init(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
  remember_compared(request, trio.comm, "allreduce_init",
                    call_data_of::allreduce(given.data(), got.data(), 3, MPI_INT, MPI_SUM));
  for (const int wrong : {8, 9}) {
    given[0] = wrong;
    start_compared(request);
    CHECK(given == Numbers{1, 2, 3});
    complete_compared(claim_compared(request), request);
  }
  forget_compared(request);
  PMPI_Request_free(&request);
  CHECK(trio.findings.size() == 3);
}

TEST_CASE("replaced: several blocks with gaps, of which the gaps stay as they are") {
  Trio trio(VoteMethod::msg_plus_hash);
  trio.meant = bytes_of_numbers({1, 2, 3});
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  PMPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  PMPI_Type_commit(&apart);
  std::array<int, 5> memory{1, -1, 6, -1, 3};
  {
    const Compared compared(trio.comm, "alltoallw", [&](CallData& call_data) {
      call_data.give(memory.data(), 1, apart);
      call_data.give(memory.data() + 4, 1, MPI_INT);
    });
    CHECK(memory == std::array<int, 5>{1, -1, 2, -1, 3});
  }
  check_replaced(trio);
  PMPI_Type_free(&apart);
}

TEST_CASE("replaced: what is right is not written") {
  static constexpr Numbers cannot_be_written{1, 2, 3};
  Trio trio(VoteMethod::msg_plus_hash);
  trio.meant = bytes_of_numbers(cannot_be_written);
  Numbers got{};
  MPI_Allreduce(cannot_be_written.data(), got.data(), 3, MPI_INT, MPI_SUM, trio.comm);
  CHECK(got == cannot_be_written);
  CHECK(trio.findings.empty());
}

TEST_CASE("replaced: not what has another length, and whoever gives that is wrong") {
  Trio trio(VoteMethod::msg_plus_hash);
  trio.meant = {std::byte{1}, std::byte{2}};
  Numbers given{1, 2, 3};
  {
    const Compared compared(trio.comm, "allreduce",
                            [&](CallData& call_data) { call_data.give(given.data(), 3, MPI_INT); });
  }
  CHECK(given == Numbers{1, 2, 3});
  REQUIRE(trio.findings.size() == 1);
  CHECK(trio.findings[0].is_tainted);
}
