// Bells that threads ring for each other: what is seen of a ring, and who wakes.
#include "runtime/doorbell.hpp"

#include <array>
#include <thread>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

struct Memory {
  alignas(4) std::array<std::byte, Doorbell::bytes> bytes{};
};

TEST_CASE("doorbell: each ring counts, and who sees it sees what was written before") {
  Memory memory;
  const Doorbell bell(memory.bytes.data());
  CHECK(bell.rings() == 0);
  int written = 0;
  std::thread other([&] {
    written = 7;
    Doorbell(memory.bytes.data()).ring();
  });
  while (bell.rings() == 0) std::this_thread::yield();
  CHECK(written == 7);
  other.join();
  CHECK(bell.ring() == 2);
  CHECK(bell.rings() == 2);
}

TEST_CASE("doorbell: a ring ends a nap, and one that came before lets nobody fall asleep") {
  Memory memory;
  const Doorbell bell(memory.bytes.data());
  constexpr long almost_a_second = 999'999'999;
  for (int i = 0; i < 1000; ++i) {  // each second that is slept through would be noticed
    const std::uint32_t rings = bell.rings();
    std::thread other([&] { bell.ring(); });
    while (bell.rings() == rings) bell.nap(rings, almost_a_second);
    other.join();
  }
  CHECK(bell.rings() == 1000);
}

TEST_CASE("doorbell: where nobody can ring, a nap is a nap") {
  const Doorbell none;
  CHECK(none.rings() == 0);
  none.ring();
  none.nap(0, 1000);
  CHECK(none.rings() == 0);
}

}  // namespace
}  // namespace resprout::runtime
