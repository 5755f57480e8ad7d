// A frame on the wire: head, prefix, data; prefix and data are padded with zeros to 16 bytes, so
// that in a receive buffer that starts aligned everything is.
//
//   byte 0   8  data length
//        8   4  prefix length
//       12   4  zero
//       16  32  frame header
//
// Thread rule: values.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/transport.hpp"

namespace resprout::runtime::tcp {

struct WireHead {
  std::uint64_t data_bytes = 0;
  std::uint32_t prefix_bytes = 0;
  std::uint32_t zero = 0;
  FrameHeader header = {};
};
static_assert(sizeof(WireHead) == 48);

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 15) & ~std::size_t{15}; }

constexpr std::size_t body_bytes(const WireHead& head) {
  return padded(head.prefix_bytes) + padded(head.data_bytes);
}

// What is left of `N` pieces of memory after `done` bytes of them, one behind the other, were
// moved.
template <std::size_t N>
struct Pieces {
  std::array<iovec, N> entries;
  std::size_t first = 0;

  Pieces(const std::array<iovec, N>& whole, std::size_t done) : entries(whole) {
    while (first < N && done >= entries[first].iov_len) done -= entries[first++].iov_len;
    if (first == N) return;
    entries[first].iov_base = static_cast<std::byte*>(entries[first].iov_base) + done;
    entries[first].iov_len -= done;
  }
  msghdr message() {
    msghdr out{};
    out.msg_iov = &entries[first];
    out.msg_iovlen = N - first;
    return out;
  }
};

}  // namespace resprout::runtime::tcp
