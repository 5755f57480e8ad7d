#include "runtime/transports/tcp/tcp_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include "core/invariant.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/net/poller.hpp"
#include "runtime/net/socket.hpp"
#include "runtime/transports/tcp/incoming.hpp"
#include "runtime/transports/tcp/outgoing.hpp"

namespace resprout::runtime {
namespace {

using tcp::Incoming;
using tcp::Outgoing;

constexpr std::uint64_t listener_key = 0;
constexpr std::uint64_t outgoing_key = std::uint64_t{1} << 32;  // + rank
constexpr std::uint64_t incoming_key = std::uint64_t{2} << 32;  // + serial number
constexpr std::size_t unproven_spare = 64;  // strangers tolerated beside all peers at once

}  // namespace

class TcpTransport::Impl {
 public:
  Impl(int self, const auth::Secret& secret, const std::string& address)
      : self_(self), secret_(secret), listener_(listen_on(address)) {
    if (!poller_.add(listener_, listener_key, EPOLLIN))
      throw std::system_error(errno, std::generic_category(), "epoll");
  }

  std::uint16_t port() const { return local_port(listener_); }
  void set_peers(std::vector<TcpEndpoint> peers);
  bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                std::span<const std::byte> data, Transfer& transfer);
  bool progress(Receiver& receiver);
  void close_peer(int peer, Receiver& receiver);
  bool is_flushed() const;
  std::uint64_t heard_of(int peer) const { return peers_[static_cast<std::size_t>(peer)].heard; }
  int pollable_fd() const { return poller_.fd(); }
  std::uint64_t rejected() const { return rejected_; }

 private:
  struct Peer {
    TcpEndpoint endpoint;
    std::unique_ptr<Outgoing> outgoing;  // from the first frame on
    bool is_closed = false;
    bool is_reported = false;  // as broken
    std::uint64_t heard = 0;   // how often something was read
  };
  using IncomingMap = std::map<std::uint32_t, std::unique_ptr<Incoming>>;  // by serial: by age

  bool accept_some();
  bool handle_outgoing(std::size_t rank);
  bool handle_incoming(std::uint32_t serial, Receiver& receiver);
  void handle_time();
  IncomingMap::iterator drop(IncomingMap::iterator it);
  void drop_oldest_unproven();
  bool is_member(int rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < peers_.size();
  }
  void report_broken(Receiver& receiver);

  const int self_;
  const auth::Secret secret_;
  Poller poller_;
  Fd listener_;
  std::vector<Peer> peers_;
  IncomingMap incoming_;
  std::uint32_t next_serial_ = 0;
  std::size_t unproven_ = 0;    // incoming connections in their handshake
  std::size_t attempting_ = 0;  // outgoing ones; an upper bound
  std::vector<int> broken_;     // to be reported
  std::uint64_t rejected_ = 0;
};

void TcpTransport::Impl::set_peers(std::vector<TcpEndpoint> peers) {
  peers_.resize(peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) peers_[i].endpoint = std::move(peers[i]);
}

bool TcpTransport::Impl::try_send(int peer, const FrameHeader& header,
                                  std::span<const std::byte> prefix,
                                  std::span<const std::byte> data, Transfer& transfer) {
  RESPROUT_INVARIANT(is_member(peer) && peer != self_);
  const auto rank = static_cast<std::size_t>(peer);
  Peer& to = peers_[rank];
  if (to.is_closed) return true;
  if (to.outgoing == nullptr)
    to.outgoing = std::make_unique<Outgoing>(poller_, outgoing_key + rank, self_, peer, secret_);
  Outgoing& outgoing = *to.outgoing;
  const bool was_attempting = outgoing.is_attempting();
  const bool accepted =
      outgoing.try_send(to.endpoint.address, to.endpoint.port, header, prefix, data, transfer);
  if (!was_attempting && outgoing.is_attempting()) ++attempting_;
  if (outgoing.is_broken() && !to.is_reported) broken_.push_back(peer);
  return accepted;
}

bool TcpTransport::Impl::progress(Receiver& receiver) {
  if (peers_.empty()) return false;  // whoever connects already must wait until we know him
  epoll_event events[32];
  bool moved = false;
  for (const epoll_event& event : poller_.wait(events, 0)) {
    const auto low = static_cast<std::uint32_t>(event.data.u64);
    switch (event.data.u64 & ~std::uint64_t{0xffffffff}) {
      case listener_key:
        moved = accept_some() || moved;
        break;
      case outgoing_key:
        moved = handle_outgoing(low) || moved;
        break;
      case incoming_key:
        moved = handle_incoming(low, receiver) || moved;
        break;
      default:
        RESPROUT_INVARIANT(false);
    }
  }
  if (unproven_ != 0 || attempting_ != 0) handle_time();
  if (!broken_.empty()) report_broken(receiver);
  return moved;
}

bool TcpTransport::Impl::accept_some() {
  bool moved = false;
  for (int turn = 0; turn < 64; ++turn) {
    Fd socket = accept_on(listener_);
    if (!socket.is_open()) break;
    moved = true;
    if (unproven_ >= unproven_spare + peers_.size()) drop_oldest_unproven();
    const std::uint32_t serial = next_serial_++;
    auto connection = std::make_unique<Incoming>(std::move(socket), self_, secret_,
                                                 monotonic_ns() + auth::handshake_deadline_ns);
    if (!poller_.add(connection->socket(), incoming_key + serial, EPOLLIN)) continue;
    incoming_.emplace(serial, std::move(connection));
    ++unproven_;
  }
  return moved;
}

bool TcpTransport::Impl::handle_outgoing(std::size_t rank) {
  Peer& peer = peers_[rank];
  const bool was_attempting = peer.outgoing->is_attempting();
  const bool moved = peer.outgoing->handle_events();
  if (was_attempting && !peer.outgoing->is_attempting()) --attempting_;
  if (peer.outgoing->is_broken() && !peer.is_reported) broken_.push_back(static_cast<int>(rank));
  return moved;
}

bool TcpTransport::Impl::handle_incoming(std::uint32_t serial, Receiver& receiver) {
  const auto it = incoming_.find(serial);
  if (it == incoming_.end()) return false;
  Incoming& connection = *it->second;
  if (connection.state() == Incoming::State::proving) {
    switch (connection.prove()) {
      case Incoming::State::proving:
        poller_.modify(connection.socket(), incoming_key + serial,
                       connection.wants_to_send() ? EPOLLOUT : EPOLLIN);
        return true;
      case Incoming::State::ready:
        --unproven_;
        poller_.modify(connection.socket(), incoming_key + serial, EPOLLIN);
        if (is_member(connection.peer()) &&
            !peers_[static_cast<std::size_t>(connection.peer())].is_closed)
          break;
        drop(it);
        return true;
      case Incoming::State::rejected:
      case Incoming::State::ended:
        drop(it);
        return true;
    }
  }
  const bool moved = connection.read(receiver);
  if (moved) ++peers_[static_cast<std::size_t>(connection.peer())].heard;
  if (connection.state() == Incoming::State::ended) {
    broken_.push_back(connection.peer());
    connection.abandon(receiver);
    drop(it);
  }
  return moved;
}

void TcpTransport::Impl::handle_time() {
  const std::int64_t now = monotonic_ns();
  for (auto it = incoming_.begin(); unproven_ != 0 && it != incoming_.end();) {
    const bool is_late =
        it->second->state() == Incoming::State::proving && now >= it->second->deadline();
    it = is_late ? drop(it) : std::next(it);
  }
  attempting_ = 0;
  for (Peer& peer : peers_)
    if (peer.outgoing != nullptr) {
      peer.outgoing->handle_time(now);
      attempting_ += peer.outgoing->is_attempting() ? 1 : 0;
    }
}

// Forgets a connection, and counts it as rejected if it never proved itself.
TcpTransport::Impl::IncomingMap::iterator TcpTransport::Impl::drop(IncomingMap::iterator it) {
  const Incoming::State state = it->second->state();
  if (state == Incoming::State::proving || state == Incoming::State::rejected) {
    --unproven_;
    ++rejected_;
  }
  poller_.remove_and_close(it->second->socket());
  return incoming_.erase(it);
}

void TcpTransport::Impl::drop_oldest_unproven() {
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it)
    if (it->second->state() == Incoming::State::proving) {
      drop(it);
      return;
    }
}

void TcpTransport::Impl::close_peer(int rank, Receiver& receiver) {
  if (!is_member(rank)) return;
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  peer.is_closed = true;
  if (peer.outgoing != nullptr) peer.outgoing->close();
  for (auto it = incoming_.begin(); it != incoming_.end();) {
    const bool is_theirs =
        it->second->state() == Incoming::State::ready && it->second->peer() == rank;
    if (is_theirs) it->second->abandon(receiver);
    it = is_theirs ? drop(it) : std::next(it);
  }
}

bool TcpTransport::Impl::is_flushed() const {
  return std::ranges::none_of(peers_, [](const Peer& peer) {
    return peer.outgoing != nullptr && peer.outgoing->is_sending();
  });
}

void TcpTransport::Impl::report_broken(Receiver& receiver) {
  for (const int rank : std::exchange(broken_, {})) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (!peer.is_closed && !std::exchange(peer.is_reported, true))
      receiver.handle_broken_peer(rank);
  }
}

TcpTransport::TcpTransport(int self_rank, const auth::Secret& secret,
                           const std::string& listen_address)
    : impl_(std::make_unique<Impl>(self_rank, secret, listen_address)) {}
TcpTransport::~TcpTransport() = default;

std::uint16_t TcpTransport::port() const { return impl_->port(); }
void TcpTransport::set_peers(std::vector<TcpEndpoint> peers) { impl_->set_peers(std::move(peers)); }
bool TcpTransport::try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                            std::span<const std::byte> data, Transfer& transfer) {
  return impl_->try_send(peer, header, prefix, data, transfer);
}
bool TcpTransport::progress(Receiver& receiver) { return impl_->progress(receiver); }
void TcpTransport::close_peer(int peer, Receiver& receiver) { impl_->close_peer(peer, receiver); }
bool TcpTransport::is_flushed() const { return impl_->is_flushed(); }
std::uint64_t TcpTransport::heard_of(int peer) const { return impl_->heard_of(peer); }
int TcpTransport::pollable_fd() const { return impl_->pollable_fd(); }
std::uint64_t TcpTransport::rejected_connections() const { return impl_->rejected(); }

}  // namespace resprout::runtime
