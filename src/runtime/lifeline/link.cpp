#include "runtime/lifeline/link.hpp"

#include <cstring>

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

void Link::advance(std::vector<News>& received) {
  stream_.advance([&received](std::span<const std::uint8_t> bytes) {
    std::size_t used = 0;
    for (; used + sizeof(News) <= bytes.size(); used += sizeof(News)) {
      News news;
      std::memcpy(&news, bytes.data() + used, sizeof news);
      received.push_back(news);
    }
    return std::optional(used);
  });
}

void Link::say(const News& news) {
  if (!is_established()) return;
  stream_.say({reinterpret_cast<const std::uint8_t*>(&news), sizeof news});
}

}  // namespace resprout::runtime
