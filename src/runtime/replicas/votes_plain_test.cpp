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

TEST_CASE("a message of which two replicas send copies is plain, whichever comes first") {
  struct : VoteNetwork {
    void send(Replica, const VoteFrame& frame, std::span<const std::byte>) override {
      kinds.push_back(frame.message.kind);
    }
    std::vector<protocols::VoteKind> kinds;
  } wire;
  std::vector<VoteEventKind> said;
  int agreed = 0;
  const DigestVoteConfig config{VoteMethod::async, 2, protocols::Unproven::own};
  Votes votes({.config = config, .self = {0, 9}, .keeps_copies = false}, wire,
              [&](const MessageName&, const VoteEvent& event, std::span<const std::byte>) {
                said.push_back(event.kind);
              },
              {.agreed = [&](const MessageName&) { ++agreed; },
               .has_machine = [](const MessageName&, const Votes::Label&) {}});
  const auto name = [](std::uint64_t number) {
    return MessageName{{1, 4, 9, 5, Stream::Of::messages}, number};
  };
  const Votes::Label label{"recv", 3, [](std::span<const std::byte> bytes) {
                             return std::uint64_t{100} + bytes.size();
                           }};
  const auto copy = [&](std::uint64_t number, std::size_t size) {
    VoteFrame frame{.name = name(number),
                    .message = {.from = config.sender(1), .to = config.receiver(0)}};
    frame.message.origins = 2;
    const std::vector<std::byte> bytes(size);
    votes.handle({1, 4}, frame, bytes);
  };
  REQUIRE(votes.maybe_receive_plain(name(1), label, 103));
  CHECK(!votes.are_all_over());
  copy(1, 3);
  CHECK(agreed == 1);
  copy(2, 3);
  CHECK(votes.load().bytes == 3);  // nobody knows yet what they are
  REQUIRE(votes.maybe_receive_plain(name(2), label, 103));
  CHECK(agreed == 2);
  CHECK(votes.load().bytes == 0);
  CHECK(votes.are_all_over());
  CHECK(said.empty());
  copy(2, 4);  // the first one stays
  CHECK(said.empty());

  // What differs has a machine; where it is known before, it is not given out.
  REQUIRE(votes.maybe_receive_plain(name(3), label, 103));
  copy(3, 4);
  CHECK(said == std::vector{VoteEventKind::mismatch, VoteEventKind::undecided});
  copy(4, 4);
  CHECK(!votes.maybe_receive_plain(name(4), label, 103));
  votes.receive(name(4), label.digest_of);
  votes.take_own_copy(name(4), 103);
  CHECK(std::count(said.begin(), said.end(), VoteEventKind::deliver) == 0);
  CHECK(std::count(said.begin(), said.end(), VoteEventKind::undecided) == 2);
  CHECK(votes.are_all_over());

  // One whose plane is lost is waited for no more.
  REQUIRE(votes.maybe_receive_plain(name(5), label, 103));
  votes.lose_plane(1);
  CHECK(said.back() == VoteEventKind::finish);
  CHECK(votes.are_all_over());
}
