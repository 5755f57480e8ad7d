// How an input is changed: bits, bytes, numbers, pieces of itself and of others.
#include <algorithm>

#include "fuzzer.hpp"

namespace resprout::fuzz {
namespace {

// Where lengths, counts and signs change their meaning.
constexpr std::uint64_t interesting[] = {
    0,        1,          2,          4,          7,
    8,        16,         63,         64,         127,
    128,      255,        256,        4095,       4096,
    0x7fff,   0x8000,     0xffff,     0x10000,    0x100000,
    0x100001, 0x7fffffff, 0x80000000, 0xffffffff, ~std::uint64_t{0}};

std::size_t place(const Input& input, Random& random) {
  return static_cast<std::size_t>(random.below(input.size() + 1));
}

// Writes the low bytes of a number over what is there.
void put(Input& input, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes && at + i < input.size(); ++i)
    input[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

void put_some_number(Input& input, Random& random) {
  const auto compared = Coverage::compared();
  const bool is_compared = !compared.empty() && random.chance(1, 2);
  const std::uint64_t value = is_compared ? compared[random.below(compared.size())]
                                          : interesting[random.below(std::size(interesting))];
  const auto bytes = std::size_t{1} << random.below(4);
  const std::uint64_t off_by = random.below(3);
  put(input, place(input, random), value + off_by - 1, bytes);
}

void change(Input& input, const Input& other, Random& random) {
  const std::size_t at = place(input, random);
  const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t rest = input.size() - at;
  switch (random.below(8)) {
    case 0:
      if (rest > 0) input[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
      break;
    case 1:
      if (rest > 0) input[at] = static_cast<std::uint8_t>(random.next());
      break;
    case 2:
      put_some_number(input, random);
      break;
    case 3:  // takes out
      input.erase(here, here + static_cast<std::ptrdiff_t>(
                                   random.below(std::min<std::size_t>(rest, 32) + 1)));
      break;
    case 4:  // puts in
      input.insert(here, 1 + random.below(16), static_cast<std::uint8_t>(random.next()));
      break;
    case 5: {  // says again
      const Input again(here, here + static_cast<std::ptrdiff_t>(
                                         random.below(std::min<std::size_t>(rest, 256) + 1)));
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(place(input, random)), again.begin(),
                   again.end());
      break;
    }
    case 6: {  // takes over
      const std::size_t from = place(other, random);
      const std::size_t length = random.below(other.size() - from + 1);
      const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
      input.insert(here, begin, begin + static_cast<std::ptrdiff_t>(length));
      break;
    }
    default:  // breaks off
      if (random.chance(1, 4)) input.resize(at);
  }
}

}  // namespace

Input mutate(const Input& input, const Input& other, std::size_t size_max, Random& random) {
  Input changed = input;
  for (std::uint64_t i = 1 + random.below(4); i > 0; --i) change(changed, other, random);
  if (changed.size() > size_max) changed.resize(size_max);
  return changed;
}

}  // namespace resprout::fuzz
