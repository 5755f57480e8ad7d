// See link.hpp.
#include "runtime/member/link.hpp"

namespace resprout::runtime::member {
namespace {

// Far more than any change says to one process; beyond, the peer does not read.
constexpr std::size_t unsent_bytes_max = std::size_t{16} << 20;
// The handshake binds two numbers into its codes; identifiers come later, in the hello.
constexpr int anybody = 0;

void count(Traffic& traffic, FrameKind kind, std::size_t bytes) {
  traffic += {bytes, 1, kind == FrameKind::heartbeat ? std::uint64_t{1} : 0};
}

}  // namespace

Link Link::accept(Fd socket, std::span<const auth::Secret> secrets) {
  const auto handshake =
      auth::Handshake::accept(secrets.front(), auth::Purpose::membership, anybody);
  return Link(ProvenStream::accept(std::move(socket), handshake, unsent_bytes_max));
}

Link Link::connect(const Address& address, std::span<const auth::Secret> secrets) {
  const auto handshake =
      auth::Handshake::initiate(secrets, auth::Purpose::membership, anybody, anybody);
  return Link(ProvenStream::connect(address.host, address.port, handshake, unsent_bytes_max));
}

void Link::advance(std::vector<Frame>& received) {
  stream_.advance([&](std::span<const std::uint8_t> bytes) {
    const std::size_t before = received.size();
    const auto used = decode_all(bytes, received);
    is_malformed_ = !used;
    received_.bytes += used.value_or(0);
    for (const Frame& frame : std::span(received).subspan(before)) count(received_, frame.kind, 0);
    return used;
  });
}

void Link::say(const Frame& frame) {
  if (is_over()) return;
  const Bytes bytes = encode(frame);
  count(sent_, frame.kind, bytes.size());
  stream_.say(bytes);
}

}  // namespace resprout::runtime::member
