#include "mpi/policies/regions.hpp"

#include <array>

#include "doctest/doctest.h"

using resprout::shim::Regions;

TEST_CASE("what is protected is put back as it was") {
  std::array<int, 3> numbers{1, 2, 3};
  double other = 4;
  Regions regions;
  regions.protect(numbers.data(), sizeof numbers);
  regions.protect(&other, sizeof other);
  CHECK(regions.bytes() == sizeof numbers + sizeof other);
  const Regions::Copy copy = regions.copy();
  numbers = {7, 8, 9};
  other = 0;
  regions.restore(copy);
  CHECK(numbers == std::array<int, 3>{1, 2, 3});
  CHECK(other == 4);
}

TEST_CASE("what is protected anew has its new size, and none is none") {
  std::array<char, 8> bytes{};
  Regions regions;
  regions.protect(bytes.data(), 8);
  regions.protect(bytes.data(), 4);
  CHECK(regions.bytes() == 4);
  regions.protect(bytes.data(), 0);
  CHECK(regions.bytes() == 0);
  regions.protect(bytes.data(), 0);
  CHECK(regions.bytes() == 0);
}

TEST_CASE("nothing is put back where memory is no longer protected") {
  std::array<char, 8> bytes{};
  char more = 0;
  Regions regions;
  regions.protect(bytes.data(), 8);
  const Regions::Copy copy = regions.copy();
  CHECK(regions.has_all_of(copy));
  regions.protect(&more, 1);
  CHECK(regions.has_all_of(copy));
  regions.restore(copy);
  CHECK(regions.bytes() == 8);
  regions.protect(bytes.data(), 4);
  CHECK_FALSE(regions.has_all_of(copy));
}

TEST_CASE("the digest knows every bit, and where a region ends") {
  std::array<unsigned char, 4> bytes{1, 2, 3, 4};
  Regions whole;
  whole.protect(bytes.data(), 4);
  Regions parts;
  parts.protect(bytes.data(), 2);
  parts.protect(bytes.data() + 2, 2);
  CHECK(whole.digest() != parts.digest());
  const std::uint64_t before = parts.digest();
  parts.flip(17);
  CHECK(bytes[2] == 1);
  CHECK(parts.digest() != before);
  parts.flip(17 + 32);  // modulo its bits
  CHECK(bytes[2] == 3);
  CHECK(parts.digest() == before);
}
