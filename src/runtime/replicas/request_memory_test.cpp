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

// In use, large blocks included.
std::size_t heap_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

constexpr MessageName received_name(std::uint64_t number) {
  return {{1, 4, 5, 9, Stream::Of::messages}, number};
}

// Bytes of the heap for each of many requests that `make` makes, and for which `then` does
// something.
double bytes_of_each(
    std::int32_t degree, const std::function<void(Verifier&, std::uint64_t number)>& make,
    const std::function<void(Verifier&)>& then = [](Verifier&) {},
    protocols::VoteMethod method = protocols::VoteMethod::async_hash) {
  Nowhere nowhere;
  Verifier verifier(
      {.config = {method, degree, protocols::Unproven::own}, .self = {0, 5}, .keeps_copies = false},
      nowhere, [](const Finding&) {});
  const std::size_t before = heap_bytes();
  for (std::uint64_t number = 1; number <= requests; ++number) make(verifier, number);
  then(verifier);
  return static_cast<double>(heap_bytes() - before) / static_cast<double>(requests);
}

void receive(Verifier& verifier, std::uint64_t number) {
  const auto digest_of = [](auto) { return std::uint64_t{7}; };
  CHECK(verifier.receive_copy({received_name(number), "recv", 8, digest_of}, 7));
}

void receive_in_two_steps(Verifier& verifier, std::uint64_t number) {
  const MessageName name = received_name(number);
  verifier.receive({name, "recv", 8, [](auto) { return std::uint64_t{7}; }}, true);
  verifier.take_own_copy(name, 7);
  verifier.wait(name, [] {});
}

void compare(Verifier& verifier, std::uint64_t number) {
  verifier.compare({{{1, 5, 5, 0, Stream::Of::results}, number}, "allreduce", 8, nullptr}, 7,
                   false);
}

void send(Verifier& verifier, std::uint64_t number) {
  verifier.send({{1, 5, 4, 9, Stream::Of::messages}, number}, 7, {});
}

}  // namespace

TEST_CASE("a request that waits for its verdict takes no more than what is counted for it") {
  const auto lose_plane = [](Verifier& verifier) { verifier.lose_plane(2); };
  for (const std::int32_t degree : {2, 3}) {
    CAPTURE(degree);
    const double received = bytes_of_each(degree, receive);
    const double compared = bytes_of_each(degree, compare);
    const double sent = bytes_of_each(degree, send);
    const double with_machine = bytes_of_each(degree, receive_in_two_steps);
    const double with_copies =
        bytes_of_each(degree, receive, [](Verifier&) {}, protocols::VoteMethod::async);
    const double after_loss = degree == 3 ? bytes_of_each(degree, receive, lose_plane) : 0;
    CAPTURE(received);
    CAPTURE(compared);
    CAPTURE(sent);
    CAPTURE(with_machine);
    CAPTURE(after_loss);
    for (const double bytes : {received, compared, sent, with_copies})
      CHECK(bytes <= static_cast<double>(128));
    CHECK(with_machine <= static_cast<double>(Lag::request_bytes));
    CHECK(after_loss <= static_cast<double>(Lag::request_bytes));
    // They are there.
    CHECK(received > 32);
    CHECK(compared > received);
    CHECK(sent > 16);
    CHECK(with_machine > received);
  }
}

#endif
