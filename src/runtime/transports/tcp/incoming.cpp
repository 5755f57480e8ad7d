#include "runtime/transports/tcp/incoming.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace resprout::runtime::tcp {
namespace {

// Read from one peer before the next one has its turn.
constexpr int reads_per_turn = 16;

}  // namespace

Incoming::State Incoming::prove() {
  switch (handshake_.advance(socket_.get())) {
    case auth::Handshake::State::running:
      break;
    case auth::Handshake::State::failed:
      state_ = State::rejected;
      break;
    case auth::Handshake::State::done:
      state_ = State::ready;
      buffer_ = std::make_unique<Buffer>();
      break;
  }
  return state_;
}

bool Incoming::read(Receiver& receiver) {
  bool moved = false;
  for (int turn = 0; turn < reads_per_turn && state_ == State::ready; ++turn) {
    if (is_large_ ? !receive_large(receiver) : !receive_some()) break;
    moved = true;
    while (!is_large_ && deliver_buffered(receiver)) {
    }
  }
  return moved || state_ == State::ended;
}

// What a receive call returned: true if bytes came.
bool Incoming::check(ssize_t received) {
  if (received > 0) return true;
  if (received == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
    state_ = State::ended;
  return false;
}

bool Incoming::receive_some() {
  // What is left of an unfinished frame starts at a multiple of 16, and stays so.
  std::memmove(buffer_->bytes, buffer_->bytes + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  const ssize_t n = recv(socket_.get(), buffer_->bytes + end_, buffer_bytes - end_, 0);
  if (!check(n)) return false;
  end_ += static_cast<std::size_t>(n);
  return true;
}

bool Incoming::is_sane(const WireHead& head) const {
  return head.zero == 0 && head.prefix_bytes <= prefix_bytes_max &&
         head.data_bytes < (std::uint64_t{1} << 48);
}

// Delivers one frame out of the buffer, or begins a large one; false if more must be read first.
bool Incoming::deliver_buffered(Receiver& receiver) {
  const std::size_t available = end_ - begin_;
  if (available < sizeof(WireHead)) return false;
  WireHead head;
  std::memcpy(&head, buffer_->bytes + begin_, sizeof head);
  if (!is_sane(head)) {
    state_ = State::ended;
    return false;
  }
  const std::size_t total = sizeof head + body_bytes(head);
  if (total > buffer_bytes / 2) {
    begin_large(head, receiver);
    return true;
  }
  if (available < total) return false;
  const std::byte* const prefix = buffer_->bytes + begin_ + sizeof head;
  begin_ += total;
  receiver.handle_frame(peer(), head.header, {prefix, head.prefix_bytes},
                        {prefix + padded(head.prefix_bytes), head.data_bytes},
                        DataOwner::transport);
  return true;
}

void Incoming::begin_large(const WireHead& head, Receiver& receiver) {
  head_ = head;
  begin_ += sizeof head;
  received_ = 0;
  is_large_ = true;
  prefix_.resize(padded(head.prefix_bytes));
  data_ = head.data_bytes == 0 ? nullptr
                               : receiver.allocate_payload(peer(), head.header, head.data_bytes);
  while (begin_ < end_ && received_ < body_bytes(head)) {
    const std::size_t data_end = prefix_.size() + head.data_bytes;
    std::byte* to = padding_;
    std::size_t room = body_bytes(head) - received_;
    if (received_ < prefix_.size()) {
      to = prefix_.data() + received_;
      room = prefix_.size() - received_;
    } else if (received_ < data_end) {
      to = data_ + (received_ - prefix_.size());
      room = data_end - received_;
    }
    const std::size_t length = std::min(room, end_ - begin_);
    std::memcpy(to, buffer_->bytes + begin_, length);
    begin_ += length;
    received_ += length;
  }
  maybe_end_large(receiver);
}

bool Incoming::receive_large(Receiver& receiver) {
  const std::size_t data_bytes = head_.data_bytes;
  Pieces<3> pieces({iovec{prefix_.data(), prefix_.size()}, iovec{data_, data_bytes},
                    iovec{padding_, padded(data_bytes) - data_bytes}},
                   received_);
  msghdr message = pieces.message();
  const ssize_t n = recvmsg(socket_.get(), &message, 0);
  if (!check(n)) return false;
  received_ += static_cast<std::size_t>(n);
  maybe_end_large(receiver);
  return true;
}

void Incoming::maybe_end_large(Receiver& receiver) {
  if (received_ < body_bytes(head_)) return;
  is_large_ = false;
  receiver.handle_frame(peer(), head_.header, {prefix_.data(), head_.prefix_bytes},
                        {std::exchange(data_, nullptr), head_.data_bytes},
                        head_.data_bytes == 0 ? DataOwner::transport : DataOwner::receiver);
}

void Incoming::abandon(Receiver& receiver) {
  if (data_ != nullptr) receiver.abandon_payload(peer(), std::exchange(data_, nullptr));
  is_large_ = false;
}

}  // namespace resprout::runtime::tcp
