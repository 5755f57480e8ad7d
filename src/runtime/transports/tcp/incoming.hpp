// A connection on which one peer sends to this process: first the handshake, then frames.
//
// Small frames are read many at a time into a buffer and delivered where they stand; the rest of a
// large one is read straight into the receiver's memory.
//
// Thread rule: the transport's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/auth/handshake.hpp"
#include "runtime/net/fd.hpp"
#include "runtime/transports/tcp/wire.hpp"

namespace resprout::runtime::tcp {

class Incoming {
 public:
  enum class State : std::uint8_t {
    proving,  // nobody knows who it is
    ready,
    rejected,  // it failed the handshake
    ended,     // it was established; the peer closed it, or what it sent makes no sense
  };

  Incoming(Fd socket, int self, const auth::Secret& secret, std::int64_t deadline)
      : socket_(std::move(socket)),
        handshake_(auth::Handshake::accept(secret, auth::Purpose::data, self)),
        deadline_(deadline) {}

  const Fd& socket() const { return socket_; }
  Fd& socket() { return socket_; }
  State state() const { return state_; }
  std::int64_t deadline() const { return deadline_; }
  // REQUIRES: ready or ended.
  int peer() const { return handshake_.peer(); }
  // For the poller, while it is proving.
  bool wants_to_send() const { return handshake_.wants_to_send(); }

  State prove();
  // Reads and delivers for a while; true if anything moved. REQUIRES: ready.
  bool read(Receiver& receiver);
  // Gives back what has half arrived.
  void abandon(Receiver& receiver);

 private:
  static constexpr std::size_t buffer_bytes = 16 << 10;

  bool receive_some();
  bool deliver_buffered(Receiver& receiver);
  bool is_sane(const WireHead& head) const;
  void begin_large(const WireHead& head, Receiver& receiver);
  bool receive_large(Receiver& receiver);
  void maybe_end_large(Receiver& receiver);
  bool check(ssize_t received);

  Fd socket_;
  auth::Handshake handshake_;
  std::int64_t deadline_;
  State state_ = State::proving;

  struct alignas(64) Buffer {
    std::byte bytes[buffer_bytes];
  };
  std::unique_ptr<Buffer> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is in the buffer

  bool is_large_ = false;  // a large frame is arriving
  WireHead head_;
  std::vector<std::byte> prefix_;  // padded
  std::byte* data_ = nullptr;
  std::byte padding_[16];
  std::size_t received_ = 0;  // of prefix, data and padding, one after the other
};

}  // namespace resprout::runtime::tcp
