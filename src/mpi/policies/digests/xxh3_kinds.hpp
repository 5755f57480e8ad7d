// XXH3 with 128 bits by one kind of vectors or another. Thread rule: pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace resprout::shim {

struct Digest128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  constexpr bool operator==(const Digest128&) const = default;
};

// The functions of one kind of vectors.
struct Xxh3 {
  // Of what comes in pieces.
  struct State {
    alignas(64) std::byte bytes[576];
  };

  Digest128 (*digest_of)(const void* data, std::size_t bytes);
  void (*reset)(State& state);
  void (*update)(State& state, const void* data, std::size_t bytes);
  Digest128 (*digest)(const State& state);
};

extern const Xxh3 xxh3_plain;        // what every processor of this kind has
extern const Xxh3* const xxh3_avx2;  // null: it was not built, as this is no x86

}  // namespace resprout::shim
