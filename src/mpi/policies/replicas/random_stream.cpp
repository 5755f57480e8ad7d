#include "mpi/policies/replicas/random_stream.hpp"

#include <bit>

namespace resprout::shim {
namespace {

using Words = std::array<std::uint32_t, 16>;

void quarter_round(Words& x, int a, int b, int c, int d) {
  const auto step = [&x](int to, int add, int turned, int by) {
    x[to] += x[add];
    x[turned] = std::rotl(x[turned] ^ x[to], by);
  };
  step(a, b, d, 16);
  step(c, d, b, 12);
  step(a, b, d, 8);
  step(c, d, b, 7);
}

}  // namespace

RandomStream::RandomStream(const Key& key, std::uint64_t nonce) {
  state_ = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (std::size_t i = 0; i < key.size(); ++i)
    state_[4 + i / 4] |= std::uint32_t{key[i]} << (8 * (i % 4));
  state_[14] = static_cast<std::uint32_t>(nonce);
  state_[15] = static_cast<std::uint32_t>(nonce >> 32);
}

void RandomStream::make_block() {
  Words x = state_;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) quarter_round(x, i, i + 4, i + 8, i + 12);
    for (int i = 0; i < 4; ++i)
      quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  for (std::size_t i = 0; i < block_.size(); ++i)
    block_[i] = static_cast<std::uint8_t>((x[i / 4] + state_[i / 4]) >> (8 * (i % 4)));
  ++state_[12];
  used_ = 0;
}

void RandomStream::fill(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) {
    if (used_ == block_.size()) make_block();
    byte = std::byte{block_[used_++]};
  }
}

}  // namespace resprout::shim
