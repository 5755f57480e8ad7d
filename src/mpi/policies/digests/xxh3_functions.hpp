// The functions of xxh3.hpp, by the vectors that the compiler may use here: for the sources that
// name a kind of them, and no others.
#pragma once

#include "mpi/policies/digests/xxh3_kinds.hpp"

#define XXH_INLINE_ALL
#include "xxhash/xxhash.h"

namespace resprout::shim {
namespace {

static_assert(sizeof(Xxh3::State) >= sizeof(XXH3_state_t));
static_assert(alignof(Xxh3::State) >= alignof(XXH3_state_t));

Digest128 as_digest(const XXH128_hash_t& hash) { return {hash.high64, hash.low64}; }

// After vectors of 256 bits. As long as their upper halves are in use whatever else the program
// computes takes up to two and a half times as long; GCC 12 forgets this in XXH3's functions.
void leave_no_upper_halves() {
#ifdef __AVX2__
  _mm256_zeroupper();
#endif
}

XXH3_state_t* of(Xxh3::State& state) { return reinterpret_cast<XXH3_state_t*>(state.bytes); }

constexpr Xxh3 functions{
    .digest_of =
        [](const void* data, std::size_t bytes) {
          const Digest128 digest = as_digest(XXH3_128bits(data, bytes));
          leave_no_upper_halves();
          return digest;
        },
    .reset =
        [](Xxh3::State& state) {
          XXH3_128bits_reset(of(state));
          leave_no_upper_halves();
        },
    .update =
        [](Xxh3::State& state, const void* data, std::size_t bytes) {
          XXH3_128bits_update(of(state), data, bytes);
          leave_no_upper_halves();
        },
    .digest =
        [](const Xxh3::State& state) {
          const auto* from = reinterpret_cast<const XXH3_state_t*>(state.bytes);
          const Digest128 digest = as_digest(XXH3_128bits_digest(from));
          leave_no_upper_halves();
          return digest;
        },
};

}  // namespace
}  // namespace resprout::shim
