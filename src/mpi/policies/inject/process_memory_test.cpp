#include "mpi/policies/inject/process_memory.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "doctest/doctest.h"

using namespace resprout::shim;
using Area = Fault::Area;

namespace {

std::array<unsigned char, 64 << 10> numbers{1};  // in the data of the program

int differing_bits(const unsigned char* a, const unsigned char* b, std::size_t size) {
  int count = 0;
  for (std::size_t i = 0; i < size; ++i) count += __builtin_popcount(a[i] ^ b[i]);
  return count;
}

// In a child: whatever the bit is of, nobody else has it.
int in_child(const std::function<bool()>& is_right) {
  const pid_t child = fork();
  if (child == 0) _exit(is_right() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The number of the bit that lies at `address`, if bits are counted from there where number 0 lies
// by as many pieces as there are: found by halves of the area, as its bytes ascend.
std::uint64_t number_of(Area area, const unsigned char* byte) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(byte);
  std::uint64_t low = 0;
  std::uint64_t high = flip_in_process(area, 0)->bytes;
  flip_in_process(area, 0);
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    const auto found = flip_in_process(area, middle * 8);
    flip_in_process(area, middle * 8);
    (found->address <= wanted ? low : high) = middle;
  }
  return low * 8;
}

std::uintptr_t end_of_stack() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with("[stack]")) return std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
  return 0;
}

}  // namespace

TEST_CASE("a bit of the program's data is flipped, and no other one of it") {
  CHECK(in_child([] {
          std::memset(numbers.data(), 0x55, numbers.size());
          const auto before = numbers;
          const std::uint64_t bit = number_of(Area::data, numbers.data() + 40000) + 3;
          const auto flipped = flip_in_process(Area::data, bit);
          return flipped && flipped->area == Area::data &&
                 flipped->address == reinterpret_cast<std::uintptr_t>(&numbers[40000]) &&
                 (numbers[40000] ^ before[40000]) == 8 &&
                 differing_bits(numbers.data(), before.data(), numbers.size()) == 1;
        }) == 0);
}

TEST_CASE(
    "what was mapped without a file is of the heap, and what nobody has touched is not there") {
  CHECK(in_child([] {
          constexpr std::size_t size = 1 << 20;
          const std::uint64_t bytes = flip_in_process(Area::heap, 0)->bytes;
          flip_in_process(Area::heap, 0);
          auto* memory = static_cast<unsigned char*>(
              mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
          madvise(memory, size, MADV_NOHUGEPAGE);
          const auto untouched = flip_in_process(Area::heap, 0);
          flip_in_process(Area::heap, 0);
          std::memset(memory, 0, size);
          const auto touched = flip_in_process(Area::heap, 0);
          flip_in_process(Area::heap, 0);
          return untouched->bytes < bytes + size / 2 && touched->bytes >= untouched->bytes + size;
        }) == 0);
}

TEST_CASE("of the stack only what is in use is flipped") {
  CHECK(in_child([] {
          volatile unsigned char here = 0;
          const auto own = reinterpret_cast<std::uintptr_t>(&here);
          // Near its end lie the variables of the environment, which nobody reads here.
          const std::uint64_t byte = end_of_stack() - 16 - own;
          const auto flipped = flip_in_process(Area::stack, byte * 8);
          const std::uintptr_t lowest = flipped->address - byte;
          return flipped->area == Area::stack && lowest < own && own - lowest < 16384;
        }) == 0);
}

TEST_CASE("the whole process is more than its parts, and the number goes round") {
  CHECK(in_child([] {
          const auto all = flip_in_process(Area::process, 5);
          flip_in_process(Area::process, 5);
          const auto data = flip_in_process(Area::data, 5);
          flip_in_process(Area::data, 5);
          const auto round = flip_in_process(Area::data, 5 + data->bytes * 8);
          return all->bytes > data->bytes && round->address == data->address && round->bit == 5;
        }) == 0);
}
