// A rank of two replicas whose collectives are compared, for unit tests.
#pragma once

#include <utility>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/testing/mpi_of_one.hpp"

namespace resprout::shim {

// This process is the one in plane 0; the test plays the other.
class Pair final : runtime::VoteNetwork {
 public:
  explicit Pair(protocols::VoteMethod method)
      : config_{method, 2},
        own_({.config = config_, .self = {0, 0}}, *this,
             [this](const auto& it) { findings.push_back(it); }) {
    need_mpi();
    PMPI_Comm_dup(MPI_COMM_SELF, &comm);
    name_child(MPI_COMM_SELF, comm);
    state_.verifier = &own_;
    state_.is_lazy = config_.is_lazy();
    state_.meanwhile = [] {
      ++waiting->said;
      waiting->answer();
    };
    waiting = this;
    comparing.store(&state_);
  }
  ~Pair() {
    comparing.store(nullptr);
    PMPI_Comm_free(&comm);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  // The sibling has the same, or what `differs` says.
  void answer() {
    const std::vector<runtime::VoteFrame> asked = std::exchange(sent, {});
    for (runtime::VoteFrame frame : asked) {
      if (frame.kind != runtime::VoteFrame::Kind::vote) continue;
      names.push_back(frame.name);
      digests.push_back(frame.message.digests[0]);
      frame.message.from = config_.sender(1);
      frame.message.to = config_.receiver(0);
      frame.message.origins = 2;
      frame.message.digests[1] = frame.message.digests[0] ^ (frame.name.stream.of == differs);
      own_.handle({1, 0}, runtime::bytes_of(frame));
    }
  }

  MPI_Comm comm = MPI_COMM_NULL;
  runtime::Stream::Of differs = runtime::Stream::Of::messages;  // nothing
  std::vector<runtime::VoteFrame> sent;
  std::vector<runtime::MessageName> names;  // in the order in which they were compared
  std::vector<std::uint64_t> digests;       // likewise
  std::vector<runtime::Finding> findings;
  int said = 0;  // so often what lingers goes out
  void let_linger() { state_.lingers = true; }
  std::uint64_t skipped() const { return state_.skipped.load(); }

 private:
  void send(runtime::Replica to, const runtime::VoteFrame& frame,
            std::span<const std::byte>) override {
    CHECK(to == runtime::Replica{1, 0});
    sent.push_back(frame);
  }

  inline static Pair* waiting = nullptr;
  const protocols::DigestVoteConfig config_;
  runtime::Verifier own_;
  Comparing state_;
};

}  // namespace resprout::shim
