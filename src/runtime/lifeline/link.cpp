#include "runtime/lifeline/link.hpp"

namespace resprout::runtime {
namespace {

// Far more than all losses of a job at once; beyond, the peer does not read.
constexpr std::size_t unsent_bytes_max = std::size_t{1} << 20;

}  // namespace

Link Link::accept(Fd socket, const auth::Secret& secret, int self, std::int64_t deadline) {
  const auto handshake = auth::Handshake::accept(secret, auth::Purpose::lifeline, self);
  return {ProvenStream::accept(std::move(socket), handshake, unsent_bytes_max), deadline};
}

Link Link::initiate(const std::string& address, std::uint16_t port, const auth::Secret& secret,
                    int self, int peer, std::int64_t deadline) {
  const auto handshake = auth::Handshake::initiate(secret, auth::Purpose::lifeline, self, peer);
  return {ProvenStream::connect(address, port, handshake, unsent_bytes_max), deadline};
}

void Link::advance(std::vector<Said>& received) {
  stream_.advance(
      [&received](std::span<const std::uint8_t> bytes) { return read_news(bytes, received); });
}

void Link::say(const News& news) {
  if (!is_established()) return;
  stream_.say({reinterpret_cast<const std::uint8_t*>(&news), sizeof news});
}

void Link::say(std::span<const std::uint8_t> message) {
  const News news{.kind = NewsKind::message, .length = static_cast<std::uint32_t>(message.size())};
  stream_.say({reinterpret_cast<const std::uint8_t*>(&news), sizeof news});
  stream_.say(message);
}

}  // namespace resprout::runtime
