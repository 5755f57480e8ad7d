// What gcc's -fsanitize-coverage=trace-pc,trace-cmp calls. Not compiled with it itself.
#include <array>

#include "fuzzer.hpp"

namespace {

constexpr std::size_t slots = std::size_t{1} << 13;
constexpr std::size_t compared_max = 512;

std::array<std::uint8_t, slots> counts;
std::array<std::uint8_t, slots> seen;  // a bit per magnitude
std::array<std::uint64_t, compared_max> compared;
std::size_t compared_count = 0;

// 1, 2, 3, 4-7, 8-15, 16-31, 32-127, more: one bit each.
std::uint8_t magnitude(std::uint8_t count) {
  constexpr std::uint8_t limits[] = {1, 2, 3, 7, 15, 31, 127};
  for (int i = 0; i < 7; ++i)
    if (count <= limits[i]) return static_cast<std::uint8_t>(1 << i);
  return 0x80;
}

// Small numbers are tried anyway. Of more than there is room for the latest stay.
void note(std::uint64_t value) {
  if (value > 16) compared[compared_count++ % compared_max] = value;
}

}  // namespace

namespace resprout::fuzz {

void Coverage::forget() {
  counts.fill(0);
  compared_count = 0;
}

std::size_t Coverage::count_new() {
  std::size_t found = 0;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (counts[slot] == 0) continue;
    const std::uint8_t bit = magnitude(counts[slot]);
    if ((seen[slot] & bit) == 0) ++found;
    seen[slot] |= bit;
  }
  return found;
}

std::size_t Coverage::edges() {
  std::size_t sum = 0;
  for (const std::uint8_t bits : seen) sum += bits != 0 ? 1 : 0;
  return sum;
}

std::span<const std::uint64_t> Coverage::compared() {
  return {::compared.data(), compared_count < compared_max ? compared_count : compared_max};
}

}  // namespace resprout::fuzz

extern "C" {

void __sanitizer_cov_trace_pc() {
  // Relative to this function: where the program was loaded does not matter.
  const auto here = reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc);
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - here;
  std::uint8_t& count = counts[(at ^ (at >> 13)) % slots];
  if (count != 255) ++count;
}

void __sanitizer_cov_trace_cmp1(std::uint8_t a, std::uint8_t b) { note(a), note(b); }
void __sanitizer_cov_trace_cmp2(std::uint16_t a, std::uint16_t b) { note(a), note(b); }
void __sanitizer_cov_trace_cmp4(std::uint32_t a, std::uint32_t b) { note(a), note(b); }
void __sanitizer_cov_trace_cmp8(std::uint64_t a, std::uint64_t b) { note(a), note(b); }
void __sanitizer_cov_trace_const_cmp1(std::uint8_t a, std::uint8_t) { note(a); }
void __sanitizer_cov_trace_const_cmp2(std::uint16_t a, std::uint16_t) { note(a); }
void __sanitizer_cov_trace_const_cmp4(std::uint32_t a, std::uint32_t) { note(a); }
void __sanitizer_cov_trace_const_cmp8(std::uint64_t a, std::uint64_t) { note(a); }
void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}
// cases: how many, their width in bits, then they.
void __sanitizer_cov_trace_switch(std::uint64_t, std::uint64_t* cases) {
  for (std::uint64_t i = 0; i < cases[0]; ++i) note(cases[2 + i]);
}
}
