#include "runtime/lifeline/link.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

// Far more than all losses of a job at once; beyond, the peer does not read.
constexpr std::size_t unsent_bytes_max = std::size_t{1} << 20;

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Link Link::accept(Fd socket, const auth::Secret& secret, int self, std::int64_t deadline) {
  return Link(std::move(socket), auth::Handshake::accept(secret, auth::Purpose::lifeline, self),
              false, State::proving, deadline);
}

Link Link::initiate(const std::string& address, std::uint16_t port, const auth::Secret& secret,
                    int self, int peer, std::int64_t deadline) {
  Fd socket = connect_to(address, port);
  const State state = socket.is_open()        ? State::connecting
                      : errno == ECONNREFUSED ? State::refused
                                              : State::rejected;
  return Link(std::move(socket),
              auth::Handshake::initiate(secret, auth::Purpose::lifeline, self, peer), true, state,
              deadline);
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

void Link::advance(std::vector<News>& received) {
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
        state_ = State::established;
        break;
    }
  }
  if (state_ != State::established) return;
  flush();
  receive(received);
}

void Link::receive(std::vector<News>& received) {
  std::array<std::uint8_t, 64 * sizeof(News)> bytes;
  // What was said before the end counts.
  for (;;) {
    std::memcpy(bytes.data(), buffer_, buffered_);
    const ssize_t n = recv(socket_.get(), bytes.data() + buffered_, bytes.size() - buffered_, 0);
    if (n <= 0) {
      if (n == 0 || !would_wait(errno)) state_ = State::ended;
      return;
    }
    const std::size_t available = buffered_ + static_cast<std::size_t>(n);
    std::size_t used = 0;
    for (; used + sizeof(News) <= available; used += sizeof(News)) {
      News news;
      std::memcpy(&news, bytes.data() + used, sizeof news);
      received.push_back(news);
    }
    buffered_ = available - used;
    std::memcpy(buffer_, bytes.data() + used, buffered_);
  }
}

void Link::say(const News& news) {
  if (!is_established()) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&news);
  unsent_.insert(unsent_.end(), bytes, bytes + sizeof news);
  flush();
  if (unsent_.size() > unsent_bytes_max) state_ = State::ended;
}

void Link::flush() {
  while (!unsent_.empty()) {
    const ssize_t n = send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (n < 0) {
      // What the peer has said before it went is still to be read; reading will tell the end.
      if (!would_wait(errno)) unsent_.clear();
      return;
    }
    unsent_.erase(unsent_.begin(), unsent_.begin() + n);
  }
}

}  // namespace resprout::runtime
