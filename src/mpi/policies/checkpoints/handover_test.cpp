#include "mpi/policies/checkpoints/handover.hpp"

#include <array>
#include <numeric>

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

template <std::size_t n>
Regions protecting(std::array<int, n>& one, std::array<double, 3>& other) {
  Regions regions;
  regions.protect(one.data(), sizeof one);
  regions.protect(other.data(), sizeof other);
  return regions;
}

const Handover given{.checkpoints = 7, .communicators = {{1, 3}, {12, 1}}};

}  // namespace

TEST_CASE("handover: what is protected is the same in both afterwards") {
  std::array<int, 100> numbers{};
  std::iota(numbers.begin(), numbers.end(), 5);
  std::array<double, 3> others{1.5, -2, 4};
  const auto bytes = hand_over(given, protecting(numbers, others));
  std::array<int, 100> own_numbers{};
  std::array<double, 3> own_others{};
  Regions own = protecting(own_numbers, own_others);
  const auto taken = take_over(bytes, own);
  REQUIRE(taken);
  CHECK(taken->checkpoints == 7);
  CHECK(taken->communicators == given.communicators);
  CHECK(own_numbers == numbers);
  CHECK(own_others == others);
}

TEST_CASE("handover: a program may protect nothing") {
  Regions none;
  const auto bytes = hand_over(given, none);
  const auto taken = take_over(bytes, none);
  REQUIRE(taken);
  CHECK(taken->communicators == given.communicators);
}

TEST_CASE("handover: other regions take nothing over") {
  std::array<int, 4> numbers{1, 2, 3, 4};
  std::array<double, 3> others{};
  const auto bytes = hand_over(given, protecting(numbers, others));
  std::array<int, 6> larger{};
  Regions own = protecting(larger, others);
  CHECK_FALSE(take_over(bytes, own));
  // As many bytes, but not of the same regions.
  std::array<std::byte, sizeof numbers + sizeof others> one{};
  Regions single;
  single.protect(one.data(), one.size());
  CHECK_FALSE(take_over(bytes, single));
}

TEST_CASE("handover: what was cut off, or changed on its way, is not taken over") {
  std::array<int, 4> numbers{1, 2, 3, 4};
  std::array<double, 3> others{};
  auto bytes = hand_over(given, protecting(numbers, others));
  Regions own = protecting(numbers, others);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(take_over(std::span(bytes).first(size), own));
  bytes.back() ^= std::byte{1};
  CHECK_FALSE(take_over(bytes, own));
}
