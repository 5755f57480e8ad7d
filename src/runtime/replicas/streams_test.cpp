#include "runtime/replicas/streams.hpp"

#include <algorithm>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr auto any = ReceivedStreams::any;

Stream from(std::int32_t sender, std::int32_t tag, std::uint64_t communicator = 7) {
  return {communicator, sender, 0, tag, Stream::Of::messages};
}

}  // namespace

TEST_CASE("the n-th message of a stream has the number n at its sender and at its receiver") {
  SentStreams sent;
  ReceivedStreams received;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const MessageName name = sent.next(from(4, 5));
    CHECK(name == MessageName{from(4, 5), n});
    CHECK(received.take(received.post(from(4, 5))) == name);
  }
}

TEST_CASE("streams of other communicators, peers, directions and tags count for themselves") {
  SentStreams sent;
  for (const Stream& stream :
       {Stream{1, 2, 3, 4}, Stream{9, 2, 3, 4}, Stream{1, 9, 3, 4}, Stream{1, 2, 9, 4},
        Stream{1, 2, 3, 9}, Stream{1, 3, 2, 4}, Stream{1, 2, 3, 4, Stream::Of::results}})
    CHECK(sent.next(stream).number == 1);
  CHECK(sent.next({1, 2, 3, 4}).number == 2);
}

TEST_CASE("a wildcard has no name before its message is there") {
  ReceivedStreams received;
  const auto wild = received.post(from(any, any));
  CHECK(!received.take(wild));
  received.resolve(wild, 3, 5);
  CHECK(received.take(wild) == MessageName{from(3, 5), 1});
}

TEST_CASE("what a wildcard may take has no name before the wildcard has one") {
  ReceivedStreams received;
  const auto wild = received.post(from(4, any));
  const auto behind = received.post(from(4, 5));
  const auto of_other = received.post(from(3, 5));
  CHECK(!received.take(behind));
  CHECK(received.take(of_other) == MessageName{from(3, 5), 1});
  SUBCASE("it has taken a message of that stream") {
    received.resolve(wild, 4, 5);
    CHECK(received.take(wild)->number == 1);
    CHECK(received.take(behind)->number == 2);
  }
  SUBCASE("it has taken another one") {
    received.resolve(wild, 4, 6);
    CHECK(received.take(wild) == MessageName{from(4, 6), 1});
    CHECK(received.take(behind)->number == 1);
  }
}

TEST_CASE("wildcards are counted where they were posted, whichever is resolved first") {
  ReceivedStreams received;
  const auto before = received.post(from(4, 5));
  const auto first = received.post(from(any, 5));
  const auto second = received.post(from(any, 5));
  received.resolve(second, 4, 5);
  CHECK(!received.take(second));
  received.resolve(first, 4, 5);
  CHECK(received.take(before)->number == 1);
  CHECK(received.take(first)->number == 2);
  CHECK(received.take(second)->number == 3);
}

TEST_CASE("a wildcard does not hold up other communicators and other tags") {
  ReceivedStreams received;
  received.post(from(any, any, 1));
  received.post(from(any, 5, 2));
  CHECK(received.take(received.post(from(4, 5, 3)))->number == 1);
  CHECK(received.take(received.post(from(4, 6, 2)))->number == 1);
}

// MPI's rule, played: each message goes to the first receive in the order of posting that fits.
TEST_CASE("matched as MPI matches, every message has one name, whatever the wildcards") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    struct Receive {
      ReceivedStreams::Ticket ticket;
      Stream asked;
      std::optional<MessageName> got;
    };
    SentStreams sent;
    ReceivedStreams received;
    std::vector<Receive> receives;
    const auto pick = [&](bool may_be_any) {
      const auto value = static_cast<std::int32_t>(random.below(may_be_any ? 3 : 2));
      return value == 2 ? any : value;
    };
    for (int i = 0; i < 12; ++i) {
      const Stream asked = from(pick(true), pick(true));
      receives.push_back({received.post(asked), asked, std::nullopt});
    }
    std::vector<std::size_t> wild;
    for (int i = 0; i < 60; ++i) {
      const Stream stream = from(pick(false), pick(false));
      const auto fits = [&](const Receive& it) {
        return !it.got && (it.asked.sender == any || it.asked.sender == stream.sender) &&
               (it.asked.tag == any || it.asked.tag == stream.tag);
      };
      const auto taker = std::find_if(receives.begin(), receives.end(), fits);
      if (taker == receives.end()) continue;
      taker->got = sent.next(stream);
      if (taker->asked.sender == any || taker->asked.tag == any)
        wild.push_back(static_cast<std::size_t>(taker - receives.begin()));
    }
    while (!wild.empty()) {  // the program learns of them in any order
      const auto at = wild.begin() + static_cast<std::ptrdiff_t>(random.below(wild.size()));
      const Receive& it = receives[*at];
      received.resolve(it.ticket, it.got->stream.sender, it.got->stream.tag);
      wild.erase(at);
    }
    for (std::size_t i = 0; i < receives.size(); ++i) {
      const auto name = received.take(receives[i].ticket);
      if (!name) continue;  // behind a wildcard that nothing has come for
      CAPTURE(i);
      if (receives[i].got) CHECK(*name == *receives[i].got);
    }
  }
}

TEST_CASE("a wildcard that was cancelled counts nowhere, and holds nobody up") {
  ReceivedStreams received;
  const auto wild = received.post(from(any, 5));
  const auto behind = received.post(from(4, 5));
  CHECK_FALSE(received.take(behind));
  received.withdraw(wild);
  CHECK(received.take(behind) == MessageName{from(4, 5), 1});
}

TEST_CASE("receives of any tag from one sender are found in order, unless an open one is before") {
  ReceivedStreams received;
  const auto first = received.post(from(4, any));
  const auto second = received.post(from(4, any));
  const auto elsewhere = received.post(from(4, any, 8));
  received.post(from(any, 5, 9));
  received.post(from(4, any, 9));  // behind the one before
  CHECK(received.sender_of(first) == 4);
  CHECK(received.first_of_any_tag(4, 0)->ticket == first);
  CHECK(received.first_of_any_tag(4, first)->ticket == elsewhere);
  CHECK(!received.first_of_any_tag(4, elsewhere));
  CHECK(!received.first_of_any_tag(3, 0));
  received.resolve(first, 4, 6);
  CHECK(!received.sender_of(first));
  CHECK(received.name_of(first) == MessageName{from(4, 6), 1});
  CHECK(received.named(from(4, 6)) == 1);
  CHECK(received.first_of_any_tag(4, 0)->ticket == second);
  CHECK(received.take(first) == MessageName{from(4, 6), 1});
  CHECK(!received.name_of(first));
}
