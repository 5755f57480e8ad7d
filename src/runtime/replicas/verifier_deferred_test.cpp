// What a verifier writes down, and when it is voted on.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/replicas/verifier.hpp"

using namespace resprout;
using namespace resprout::protocols;
using namespace resprout::runtime;

namespace {

constexpr std::int32_t own_rank = 4;
constexpr std::int32_t other_rank = 5;

MessageName sent(std::uint64_t number) {
  return {{1, own_rank, other_rank, 0, Stream::Of::messages}, number};
}
MessageName received(std::uint64_t number) {
  return {{1, other_rank, own_rank, 0, Stream::Of::messages}, number};
}
MessageName compared(std::uint64_t number) {
  return {{1, own_rank, own_rank, 0, Stream::Of::results}, number};
}

struct Network final : VoteNetwork {
  void send(Replica to, const VoteFrame& frame, std::span<const std::byte>) override {
    frames.emplace_back(to, frame);
  }
  bool expect() override {
    ++expected;
    return is_patient;
  }

  std::vector<std::pair<Replica, VoteFrame>> frames;
  int expected = 0;
  bool is_patient = true;
};

// Replica 0 of two.
class Process {
 public:
  explicit Process(VoteMethod method = VoteMethod::async_hash, std::size_t deferred_max = 4)
      : verifier(
            {.config = {method, 2, Unproven::own}, .self = {0, own_rank}, .keeps_copies = false},
            network, [this](const Finding& found) { findings.push_back(found); }, {},
            {.deferred_max = deferred_max}) {}

  bool receive(std::uint64_t number, std::uint64_t digest) {
    return verifier.receive_copy({received(number), "recv", 8, nullptr}, digest);
  }
  // What replica 1 of the sender says of it.
  void hear(std::uint64_t number, std::uint64_t digest) {
    const DigestVoteConfig config{VoteMethod::async_hash, 2};
    VoteFrame frame{.name = received(number)};
    frame.message = {.from = config.sender(1), .to = config.receiver(0)};
    frame.message.kind = VoteKind::digest;
    frame.message.origins = 0b10;
    frame.message.digests[1] = digest;
    verifier.handle({1, other_rank}, bytes_of(frame));
  }

  Network network;
  std::vector<Finding> findings;
  Verifier verifier;
};

}  // namespace

TEST_CASE("deferred: what is sent is said when there is enough of it, or frames go out") {
  Process process;
  for (std::uint64_t number = 1; number <= 3; ++number)
    process.verifier.send(sent(number), number, {});
  CHECK(process.network.frames.empty());
  CHECK(process.network.expected == 1);
  process.verifier.send(sent(4), 4, {});
  REQUIRE(process.network.frames.size() == 4);
  for (std::uint64_t number = 1; number <= 4; ++number) {
    const auto& [to, frame] = process.network.frames[number - 1];
    CHECK(to == Replica{1, other_rank});
    CHECK(frame.name == sent(number));
    CHECK(frame.message.digests[0] == number);
  }
  process.verifier.send(sent(5), 5, {});
  CHECK(process.network.frames.size() == 4);
  process.verifier.catch_up();
  CHECK(process.network.frames.size() == 5);
}

TEST_CASE("deferred: where nothing waits everything is said at once") {
  Process impatient;
  impatient.network.is_patient = false;
  impatient.verifier.send(sent(1), 1, {});
  CHECK(impatient.network.frames.size() == 1);
  Process without(VoteMethod::async_hash, 0);
  without.verifier.send(sent(1), 1, {});
  CHECK(without.network.frames.size() == 1);
  Process eager(VoteMethod::msg_plus_hash);
  eager.verifier.send(sent(1), 1, {});
  CHECK(eager.network.frames.size() == 1);
}

TEST_CASE("deferred: who asks what is known has all of it voted on") {
  Process process;
  CHECK(process.receive(1, 10));
  CHECK(process.receive(2, 20));
  process.verifier.compare({compared(1), "allreduce", 8, nullptr}, 30, false);
  CHECK(process.verifier.open() == 3);
  CHECK(process.network.frames.empty());
  CHECK_FALSE(process.verifier.is_agreed());
  CHECK(process.network.frames.size() == 1);  // to what it is compared with
  CHECK(process.verifier.open() == 3);
  process.hear(1, 10);
  process.hear(2, 20);
  CHECK(process.verifier.figures().verified == 2);
  CHECK(process.verifier.open() == 1);
}

TEST_CASE("deferred: what differs is found, whichever came first") {
  for (const bool is_heard_first : {false, true}) {
    CAPTURE(is_heard_first);
    Process process;
    if (is_heard_first) process.hear(1, 11);
    CHECK(process.receive(1, 10));
    CHECK(process.findings.empty());
    if (!is_heard_first) process.hear(1, 11);
    process.verifier.settle([] {});
    REQUIRE(process.findings.size() == 1);
    CHECK(process.findings[0].name == received(1));
    CHECK(process.findings[0].call == "recv");
    CHECK(process.findings[0].is_tainted == false);
    CHECK(process.findings[0].end == Finding::End::undecided);
  }
}

TEST_CASE("deferred: what is written down before a plane is lost was heard before it") {
  Process process;
  CHECK(process.receive(1, 10));
  process.hear(1, 10);
  CHECK(process.receive(2, 20));
  process.verifier.lose_plane(1);
  const Verifier::Figures figures = process.verifier.figures();
  CHECK(figures.verified == 1);
  CHECK(figures.unverified == 1);
  CHECK(process.findings.empty());
}

TEST_CASE("deferred: what is done again is not written down") {
  Process process;
  process.verifier.send(sent(1), 1, {});
  process.verifier.repeat();
  CHECK(process.network.frames.size() == 1);
  process.verifier.send(sent(1), 1, {});
  CHECK(process.receive(1, 10));
  process.verifier.catch_up();
  CHECK(process.network.frames.size() == 1);
  process.verifier.stop_repeating();
  process.verifier.send(sent(2), 2, {});
  CHECK(process.network.frames.size() == 1);
  process.verifier.catch_up();
  CHECK(process.network.frames.size() == 2);
}

TEST_CASE("deferred: in any order, and however many wait, nothing that is said or found differs") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    Process at_once(VoteMethod::async_hash, 0);
    Random draws(seed);
    Process later(VoteMethod::async_hash, 1 + draws.below(9));
    later.network.is_patient = draws.chance(3, 4);
    std::vector<std::uint64_t> to_hear;
    std::uint64_t sent_count = 0;
    std::uint64_t received_count = 0;
    const auto both = [&](auto act) {
      act(at_once);
      act(later);
    };
    for (int step = 0; step < 60; ++step) {
      switch (draws.below(5)) {
        case 0:
          ++sent_count;
          both([&](Process& one) { one.verifier.send(sent(sent_count), sent_count, {}); });
          break;
        case 1:
          ++received_count;
          to_hear.push_back(received_count);
          both([&](Process& one) { one.receive(received_count, received_count); });
          break;
        case 2:
          to_hear.push_back(received_count + 1 + draws.below(3));
          break;
        case 3:
          if (!to_hear.empty()) {
            const std::uint64_t number = to_hear[draws.below(to_hear.size())];
            const std::uint64_t digest = draws.chance(1, 20) ? 1000 : number;
            both([&](Process& one) { one.hear(number, digest); });
          }
          break;
        default:
          if (draws.chance(1, 3)) later.verifier.catch_up();
      }
    }
    const Verifier::Figures expected = at_once.verifier.figures();
    const Verifier::Figures figures = later.verifier.figures();
    CHECK(figures.verified == expected.verified);
    CHECK(at_once.verifier.open() == later.verifier.open());
    REQUIRE(later.findings.size() == at_once.findings.size());
    const auto names_of = [](const Process& process) {
      std::vector<std::uint64_t> names;
      for (const Finding& found : process.findings) names.push_back(found.name.number);
      std::ranges::sort(names);
      return names;
    };
    CHECK(names_of(later) == names_of(at_once));
    const auto said_by = [](const Process& process) {
      std::vector<std::uint64_t> said;
      for (const auto& [to, frame] : process.network.frames)
        if (frame.kind == VoteFrame::Kind::vote) said.push_back(frame.name.number);
      return said;
    };
    CHECK(said_by(later).size() == said_by(at_once).size());
  }
}
