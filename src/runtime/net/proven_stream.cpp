#include "runtime/net/proven_stream.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

// At once; who says more without a pause must not keep all others waiting.
constexpr std::size_t received_at_once_max = std::size_t{1} << 20;

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

ProvenStream ProvenStream::accept(Fd socket, const auth::Handshake& handshake,
                                  std::size_t unsent_max) {
  return {std::move(socket), handshake, false, State::proving, unsent_max};
}

ProvenStream ProvenStream::connect(const std::string& address, std::uint16_t port,
                                   const auth::Handshake& handshake, std::size_t unsent_max) {
  errno = 0;
  Fd socket = connect_to(address, port);
  const State state = socket.is_open()        ? State::connecting
                      : errno == ECONNREFUSED ? State::refused
                                              : State::rejected;
  return {std::move(socket), handshake, true, state, unsent_max};
}

std::uint32_t ProvenStream::events() const {
  switch (state_) {
    case State::connecting:
      return EPOLLOUT;
    case State::proving:
      return handshake_.wants_to_send() ? EPOLLOUT : EPOLLIN;
    default:
      return unsent_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  }
}

void ProvenStream::advance(const Take& take) {
  if (state_ == State::connecting) {
    const int error = connect_error(socket_);
    state_ = error == 0 ? State::proving : error == ECONNREFUSED ? State::refused : State::rejected;
  }
  if (state_ == State::proving) {
    switch (handshake_.advance(socket_.get())) {
      case auth::Handshake::State::running:
        return;
      case auth::Handshake::State::failed:
        state_ = State::rejected;
        return;
      case auth::Handshake::State::done:
        state_ = State::open;
        break;
    }
  }
  if (!is_open()) return;
  flush();
  receive(take);
}

void ProvenStream::say(std::span<const std::uint8_t> bytes) {
  if (is_over()) return;
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  if (is_open()) flush();
  if (unsent_.size() > unsent_max_) end();
}

void ProvenStream::flush() {
  std::size_t sent = 0;
  while (sent < unsent_.size()) {
    const ssize_t n =
        send(socket_.get(), unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (n < 0) {
      // What the peer has said before it went is still to be read; reading will tell the end.
      if (!would_wait(errno)) sent = unsent_.size();
      break;
    }
    sent += static_cast<std::size_t>(n);
  }
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent));
}

void ProvenStream::receive(const Take& take) {
  std::array<std::uint8_t, 16384> bytes;
  for (std::size_t received = 0; received < received_at_once_max;) {
    const ssize_t n = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (n <= 0) {
      if (n == 0 || !would_wait(errno)) state_ = State::ended;
      return;
    }
    received += static_cast<std::size_t>(n);
    unused_.insert(unused_.end(), bytes.begin(), bytes.begin() + n);
    const std::optional<std::size_t> used = take(unused_);
    if (!used) {
      state_ = State::ended;
      return;
    }
    unused_.erase(unused_.begin(), unused_.begin() + static_cast<std::ptrdiff_t>(*used));
    if (static_cast<std::size_t>(n) < bytes.size()) return;  // there was no more
  }
}

}  // namespace resprout::runtime
