// Copying between processes.
//
// A long memcpy is one `rep movsb` on today's x86, and that goes at a fraction of a core's speed
// when the lines it reads or writes are in the cache of another core, which here is the rule: on an
// EPYC, 256 KiB took five times as long as in short pieces, which are copied by vector
// instructions. Where both ways are alike pieces cost nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace resprout::runtime {

inline constexpr std::size_t copied_at_once_max = 2048;

// As memcpy, but nothing needs to be anywhere if `bytes` is 0.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  auto* into = static_cast<std::byte*>(to);
  const auto* out_of = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, copied_at_once_max);
    std::memcpy(into, out_of, piece);
    into += piece;
    out_of += piece;
    bytes -= piece;
  }
}

}  // namespace resprout::runtime
