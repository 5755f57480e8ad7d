// What a machine's memory gives to something that reads and writes blocks in random order: millions
// of copies a second of 64 bytes within 64 MiB, on one core. A measure for sim_throughput.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

int main() {
  using Block = std::array<std::byte, 64>;
  constexpr std::size_t blocks = std::size_t{1} << 20;
  constexpr int copies = 4000000;
  std::vector<Block> memory(blocks);
  std::vector<double> millions;
  std::uint64_t state = 1;
  for (int run = 0; run < 21; ++run) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < copies; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const std::size_t from = (state >> 24) % blocks;
      const std::size_t to = (state >> 44) % blocks;
      memory[to] = memory[from];
      memory[to][0] = static_cast<std::byte>(i);
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    millions.push_back(copies / seconds / 1e6);
  }
  std::sort(millions.begin(), millions.end());
  std::printf("%-40s %9d copies,   %6.1f million/s (min %.1f, max %.1f)\n",
              "64 bytes, at random in 64 MiB", copies, millions[millions.size() / 2],
              millions.front(), millions.back());
  return memory[0][0] == std::byte{255} && memory[1][0] == std::byte{255} ? 1 : 0;
}
