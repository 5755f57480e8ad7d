// See link.hpp.
#include "runtime/member/link.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "runtime/net/socket.hpp"

namespace resprout::runtime::member {
namespace {

// Far more than any change says to one process; beyond, the peer does not read.
constexpr std::size_t unsent_bytes_max = std::size_t{16} << 20;
// The handshake binds two numbers into its codes; identifiers come later, in the hello.
constexpr int anybody = 0;

void count(Traffic& traffic, FrameKind kind, std::size_t bytes) {
  traffic += {bytes, 1, kind == FrameKind::heartbeat ? std::uint64_t{1} : 0};
}

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Link Link::accept(Fd socket, const auth::Secret& secret) {
  return {std::move(socket), auth::Handshake::accept(secret, auth::Purpose::membership, anybody),
          false, State::proving};
}

Link Link::connect(const Address& address, const auth::Secret& secret) {
  errno = 0;
  Fd socket = connect_to(address.host, address.port);
  const State state = socket.is_open()        ? State::connecting
                      : errno == ECONNREFUSED ? State::refused
                                              : State::closed;
  return {std::move(socket),
          auth::Handshake::initiate(secret, auth::Purpose::membership, anybody, anybody), true,
          state};
}

std::uint32_t Link::events() const {
  switch (state_) {
    case State::connecting:
      return EPOLLOUT;
    case State::proving:
      return handshake_.wants_to_send() ? EPOLLOUT : EPOLLIN;
    default:
      return unsent_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  }
}

void Link::advance(std::vector<Frame>& received) {
  if (state_ == State::connecting) {
    const int error = connect_error(socket_);
    state_ = error == 0 ? State::proving : error == ECONNREFUSED ? State::refused : State::closed;
  }
  if (state_ == State::proving) {
    const auth::Handshake::State handshake = handshake_.advance(socket_.get());
    if (handshake == auth::Handshake::State::running) return;
    has_opened_ = handshake == auth::Handshake::State::done;
    state_ = has_opened_ ? State::open : State::closed;
  }
  if (state_ != State::open) return;
  flush();
  receive(received);
}

void Link::say(const Frame& frame) {
  if (is_over()) return;
  const Bytes bytes = encode(frame);
  count(sent_, frame.kind, bytes.size());
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  if (state_ == State::open) flush();
  if (unsent_.size() > unsent_bytes_max) state_ = State::closed;
}

void Link::flush() {
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

void Link::receive(std::vector<Frame>& received) {
  std::array<std::uint8_t, 16384> bytes;
  for (;;) {
    const ssize_t n = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (n <= 0) {
      if (n == 0 || !would_wait(errno)) state_ = State::closed;
      break;
    }
    unread_.insert(unread_.end(), bytes.begin(), bytes.begin() + n);
  }
  std::size_t used = 0;
  while (unread_.size() - used >= 4) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{unread_[used + i]} << (8 * i);
    if (length > frame_bytes_max) {
      state_ = State::closed;
      return;
    }
    if (unread_.size() - used - 4 < length) break;
    auto frame = decode(std::span(unread_).subspan(used + 4, length));
    if (!frame) {
      state_ = State::closed;
      return;
    }
    count(received_, frame->kind, 4 + length);
    received.push_back(std::move(*frame));
    used += 4 + length;
  }
  unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(used));
}

}  // namespace resprout::runtime::member
