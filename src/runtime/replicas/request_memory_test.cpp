// What a request takes that waits for its verdict: of the heap itself, all structures counted.
#include <malloc.h>

#include <functional>

#include "doctest/doctest.h"
#include "runtime/replicas/lag.hpp"
#include "runtime/replicas/verifier.hpp"

using namespace resprout;
using namespace resprout::runtime;

// glibc knows what is in use; another allocator, as a sanitizer's, does not say.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

struct Nowhere final : VoteNetwork {
  void send(Replica, const VoteFrame&, std::span<const std::byte>) override {}
};

constexpr std::uint64_t requests = 100'000;

// Bytes of the heap for each of many requests that `make` makes.
double bytes_of_each(std::int32_t degree,
                     const std::function<void(Verifier&, std::uint64_t number)>& make) {
  Nowhere nowhere;
  Verifier verifier(
      {.config = {protocols::VoteMethod::async_hash, degree, protocols::Unproven::own},
       .self = {0, 5},
       .keeps_copies = false},
      nowhere, [](const Finding&) {});
  const auto before = mallinfo2().uordblks;
  for (std::uint64_t number = 1; number <= requests; ++number) make(verifier, number);
  return static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(requests);
}

}  // namespace

TEST_CASE("a request that waits for its verdict takes no more than what is counted for it") {
  for (const std::int32_t degree : {2, 3}) {
    CAPTURE(degree);
    const double received = bytes_of_each(degree, [](Verifier& verifier, std::uint64_t number) {
      const MessageName name{{1, 4, 5, 9, Stream::Of::messages}, number};
      verifier.receive({name, "recv", 8, [](auto) { return std::uint64_t{7}; }}, true);
      verifier.take_own_copy(name, 7);
      verifier.wait(name, [] {});
    });
    const double compared = bytes_of_each(degree, [](Verifier& verifier, std::uint64_t number) {
      const MessageName name{{1, 5, 5, 0, Stream::Of::results}, number};
      verifier.compare({name, "allreduce", 8, nullptr}, 7, false);
    });
    const double sent = bytes_of_each(degree, [](Verifier& verifier, std::uint64_t number) {
      verifier.send({{1, 5, 4, 9, Stream::Of::messages}, number}, 7, {});
    });
    CAPTURE(received);
    CAPTURE(compared);
    CAPTURE(sent);
    CHECK(received <= static_cast<double>(Lag::request_bytes));
    CHECK(compared <= static_cast<double>(Lag::request_bytes));
    CHECK(sent <= static_cast<double>(Lag::request_bytes));
    // They are there.
    CHECK(received > 64);
    CHECK(compared > received);
    CHECK(sent > 64);
  }
}

#endif
