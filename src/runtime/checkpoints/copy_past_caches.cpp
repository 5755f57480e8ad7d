#include "runtime/checkpoints/copy_past_caches.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

namespace resprout::runtime {
namespace {

#if defined(__SSE2__)
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t pages_at_once = 4;
constexpr std::size_t group_bytes = pages_at_once * page_bytes;
constexpr std::size_t lines_bytes = 128;
constexpr std::size_t ahead_bytes = 512;

// Two lines. REQUIRES: `to` lies on 16 bytes.
void copy_lines(std::byte* to, const std::byte* from) {
  constexpr std::size_t words = lines_bytes / sizeof(__m128i);
  __m128i word[words];
  for (std::size_t i = 0; i < words; ++i)
    word[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
  for (std::size_t i = 0; i < words; ++i)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, word[i]);
}

void copy_group(std::byte* to, const std::byte* from) {
  for (std::size_t line = 0; line < page_bytes; line += lines_bytes)
    for (std::size_t page = 0; page < group_bytes; page += page_bytes) {
      // Beyond the end of what there is this does nothing.
      const auto* next = reinterpret_cast<const char*>(from + page + line) + ahead_bytes;
      _mm_prefetch(next, _MM_HINT_T0);
      _mm_prefetch(next + lines_bytes / 2, _MM_HINT_T0);
      copy_lines(to + page + line, from + page + line);
    }
}
#endif

}  // namespace

void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(to) % sizeof(__m128i);
  const std::size_t head = beyond == 0 ? 0 : std::min(bytes, sizeof(__m128i) - beyond);
  if (bytes >= head + group_bytes) {
    std::memcpy(to, from, head);
    std::size_t done = head;
    for (; bytes - done >= group_bytes; done += group_bytes) copy_group(to + done, from + done);
    _mm_sfence();
    to += done;
    from += done;
    bytes -= done;
  }
#endif
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace resprout::runtime
