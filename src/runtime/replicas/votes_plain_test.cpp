// Messages without a machine, one by one; votes_test.cpp has them among all others.
#include <algorithm>
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "runtime/replicas/votes.hpp"

using namespace resprout;
using namespace resprout::runtime;
using protocols::DigestVoteConfig;
using protocols::VoteEvent;
using protocols::VoteEventKind;
using protocols::VoteMethod;

namespace {

std::uint64_t digest_of(std::span<const std::byte>) { return 7; }

}  // namespace

TEST_CASE("a plain message has a machine when its share differs, or when somebody asks") {
  struct : VoteNetwork {
    void send(Replica, const VoteFrame& frame, std::span<const std::byte>) override {
      sent.push_back(frame);
    }
    std::vector<VoteFrame> sent;
  } wire;
  std::vector<VoteEventKind> said;
  int agreed = 0;
  std::vector<std::string> with_machine;
  const DigestVoteConfig config{VoteMethod::async_hash, 2};
  Votes votes(
      {.config = config, .self = {0, 9}}, wire,
      [&](const MessageName&, const VoteEvent& event, std::span<const std::byte>) {
        said.push_back(event.kind);
      },
      {.agreed = [&](const MessageName&) { ++agreed; },
       .has_machine = [&](const MessageName&,
                          const Votes::Label& label) { with_machine.emplace_back(label.call); }});
  const auto name = [](std::uint64_t number) {
    return MessageName{{1, 4, 9, 5, Stream::Of::messages}, number};
  };
  const auto share = [&](std::uint64_t number, std::uint64_t digest) {
    VoteFrame frame{.name = name(number),
                    .message = {.from = config.sender(1), .to = config.receiver(0)}};
    frame.message.kind = protocols::VoteKind::digest;
    frame.message.origins = 2;
    frame.message.digests[1] = digest;
    votes.handle({1, 4}, frame, {});
  };
  // The share comes later, sooner, and is another one.
  REQUIRE(votes.maybe_receive_plain(name(1), {"recv", 8, digest_of}, 7));
  CHECK(!votes.are_all_confirmed());
  share(1, 7);
  share(2, 7);
  CHECK(agreed == 1);
  REQUIRE(votes.maybe_receive_plain(name(2), {"recv", 8, digest_of}, 7));
  CHECK(agreed == 2);
  CHECK(votes.are_all_over());
  CHECK(votes.are_all_confirmed());
  REQUIRE(votes.maybe_receive_plain(name(3), {"irecv", 8, digest_of}, 7));
  CHECK(with_machine.empty());
  CHECK(said.empty());
  share(3, 8);
  CHECK(with_machine == std::vector<std::string>{"irecv"});
  CHECK(std::find(said.begin(), said.end(), VoteEventKind::mismatch) != said.end());

  // A sibling asks what is known of one that is over.
  wire.sent.clear();
  VoteFrame question{.name = name(2),
                     .message = {.from = config.receiver(1), .to = config.receiver(0)}};
  question.message.kind = protocols::VoteKind::inquiry;
  votes.handle({1, 9}, question, {});
  REQUIRE(wire.sent.size() == 1);
  CHECK(wire.sent[0].message.kind == protocols::VoteKind::opinions);
  CHECK(wire.sent[0].message.origins == 3);
  CHECK(wire.sent[0].message.digests[0] == 7);
  CHECK(with_machine.size() == 1);

  // What differs from a share that was sooner is not plain.
  share(4, 8);
  CHECK(!votes.maybe_receive_plain(name(4), {"recv", 8, digest_of}, 7));
}
