#include "runtime/transports/tcp/outgoing.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/net/clock.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime::tcp {
namespace {

constexpr std::int64_t backoff_ns_min = 5'000'000;
constexpr std::int64_t backoff_ns_max = 500'000'000;
constexpr std::array<std::byte, 16> zeros{};

}  // namespace

void Outgoing::attempt(const std::string& address, std::uint16_t port) {
  const std::int64_t now = monotonic_ns();
  if (now < retry_at_) return;
  deadline_ = now + auth::handshake_deadline_ns;
  socket_ = connect_to(address, port);
  if (socket_.is_open() && poller_.add(socket_, key_, EPOLLOUT)) {
    state_ = State::connecting;
  } else {
    give_up_attempt();
  }
}

void Outgoing::give_up_attempt() {
  poller_.remove_and_close(socket_);
  handshake_.reset();
  backoff_ns_ = std::clamp(backoff_ns_ * 2, backoff_ns_min, backoff_ns_max);
  retry_at_ = monotonic_ns() + backoff_ns_;
  state_ = State::idle;
}

void Outgoing::prove() {
  switch (handshake_->advance(socket_.get())) {
    case auth::Handshake::State::running:
      poller_.modify(socket_, key_, handshake_->wants_to_send() ? EPOLLOUT : EPOLLIN);
      break;
    case auth::Handshake::State::failed:
      give_up_attempt();
      break;
    case auth::Handshake::State::done:
      handshake_.reset();
      state_ = State::ready;
      poller_.modify(socket_, key_, EPOLLRDHUP);
      break;
  }
}

bool Outgoing::handle_events() {
  switch (state_) {
    case State::connecting:
      if (connect_error(socket_) != 0) {
        give_up_attempt();
      } else {
        handshake_ = auth::Handshake::initiate(secret_, auth::Purpose::data, self_, peer_);
        state_ = State::proving;
        prove();
      }
      return true;
    case State::proving:
      prove();
      return true;
    case State::ready: {
      // The peer never speaks: what can be read is the end.
      std::byte unexpected;
      const ssize_t n = recv(socket_.get(), &unexpected, 1, MSG_PEEK);
      if (n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        break_off();
        return true;
      }
      return is_sending() && write_some();
    }
    case State::idle:
    case State::broken:
    case State::closed:
      break;
  }
  return false;
}

void Outgoing::handle_time(std::int64_t now) {
  if (is_attempting() && now >= deadline_) give_up_attempt();
}

bool Outgoing::try_send(const std::string& address, std::uint16_t port, const FrameHeader& header,
                        std::span<const std::byte> prefix, std::span<const std::byte> data,
                        Transfer& transfer) {
  if (state_ == State::closed || state_ == State::broken) return true;
  if (state_ == State::idle) attempt(address, port);
  if (state_ != State::ready || is_sending()) return false;

  const WireHead head{.data_bytes = data.size(),
                      .prefix_bytes = static_cast<std::uint32_t>(prefix.size()),
                      .header = header};
  head_and_prefix_.assign(sizeof head + padded(prefix.size()), std::byte{});
  std::memcpy(head_and_prefix_.data(), &head, sizeof head);
  if (!prefix.empty())
    std::memcpy(head_and_prefix_.data() + sizeof head, prefix.data(), prefix.size());
  data_ = data;
  written_ = 0;
  transfer_ = &transfer;
  ++transfer.pending;
  write_some();
  return true;
}

// True if anything was written.
bool Outgoing::write_some() {
  const std::array<iovec, 3> whole = {
      iovec{head_and_prefix_.data(), head_and_prefix_.size()},
      iovec{const_cast<std::byte*>(data_.data()), data_.size()},
      iovec{const_cast<std::byte*>(zeros.data()), padded(data_.size()) - data_.size()}};
  const std::size_t total = head_and_prefix_.size() + padded(data_.size());
  bool moved = false;
  while (written_ < total) {
    Pieces<3> pieces(whole, written_);
    const msghdr message = pieces.message();
    const ssize_t n = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!std::exchange(awaits_room_, true)) poller_.modify(socket_, key_, EPOLLRDHUP | EPOLLOUT);
      return moved;
    }
    if (n < 0) {
      break_off();
      return true;
    }
    written_ += static_cast<std::size_t>(n);
    moved = true;
  }
  end_frame();
  if (std::exchange(awaits_room_, false)) poller_.modify(socket_, key_, EPOLLRDHUP);
  return true;
}

void Outgoing::end_frame() {
  if (transfer_ == nullptr) return;
  --transfer_->pending;
  transfer_ = nullptr;
  data_ = {};
}

void Outgoing::break_off() {
  close();
  state_ = State::broken;
}

void Outgoing::close() {
  poller_.remove_and_close(socket_);
  handshake_.reset();
  end_frame();
  state_ = State::closed;
}

}  // namespace resprout::runtime::tcp
