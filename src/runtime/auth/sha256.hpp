// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), written out: a fresh machine has no
// cryptographic library. For handshakes and names, not for speed.
//
// Thread rule: values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace resprout::runtime::auth {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  void update(std::span<const std::uint8_t> bytes);
  Digest finish();  // once, at the end

 private:
  void compress(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

Digest sha256(std::span<const std::uint8_t> bytes);
Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> bytes);

// Takes the same time wherever the two differ.
bool is_equal(const Digest& a, const Digest& b);

}  // namespace resprout::runtime::auth
