// Bytes that look random and are the same for the same key: ChaCha20 (RFC 8439) with a block
// counter from 0 and zeros as the nonce's first word.
//
// Thread rule: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace resprout::shim {

class RandomStream {
 public:
  using Key = std::array<std::uint8_t, 32>;

  constexpr RandomStream() = default;
  // `nonce`: of many streams with one key.
  RandomStream(const Key& key, std::uint64_t nonce);
  void fill(std::span<std::byte> bytes);

 private:
  void make_block();

  std::array<std::uint32_t, 16> state_{};
  std::array<std::uint8_t, 64> block_{};
  std::size_t used_ = 64;  // so many bytes of the block are given out
};

}  // namespace resprout::shim
