// See state_digest.hpp.
#include "sim/adversary/state_digest.hpp"

#define XXH_INLINE_ALL
#include "xxhash/xxhash.h"

namespace resprout::sim {

StateDigest::Value StateDigest::hash_of(const void* data, std::size_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return {hash.low64, hash.high64};
}

}  // namespace resprout::sim
