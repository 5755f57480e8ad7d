// The connection on which this process sends to one peer: made at the first frame, and made again
// as long as it was never established.
//
// Invariants
//  1. Frames are accepted only on an established connection, one at a time.
//  2. Once established, a connection is never replaced: if it breaks, frames may be lost, and
//     everything later vanishes as well (`is_broken`).
//
// Thread rule: the transport's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/auth/handshake.hpp"
#include "runtime/net/poller.hpp"
#include "runtime/transports/tcp/wire.hpp"

namespace resprout::runtime::tcp {

class Outgoing {
 public:
  Outgoing(Poller& poller, std::uint64_t key, int self, int peer, const auth::Secret& secret)
      : poller_(poller), key_(key), self_(self), peer_(peer), secret_(secret) {}
  ~Outgoing() { close(); }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  // As Transport::try_send. Without a connection it starts to make one and refuses.
  bool try_send(const std::string& address, std::uint16_t port, const FrameHeader& header,
                std::span<const std::byte> prefix, std::span<const std::byte> data,
                Transfer& transfer);
  // Something happened on the socket; true if anything moved.
  bool handle_events();
  // Gives up an attempt to connect that takes too long.
  void handle_time(std::int64_t now);
  // The peer is dead: what is not sent vanishes, now and later.
  void close();

  bool is_sending() const { return transfer_ != nullptr; }
  bool is_attempting() const { return state_ == State::connecting || state_ == State::proving; }
  bool is_broken() const { return state_ == State::broken; }

 private:
  enum class State : std::uint8_t { idle, connecting, proving, ready, broken, closed };

  void attempt(const std::string& address, std::uint16_t port);
  void give_up_attempt();
  void prove();
  bool write_some();
  void end_frame();
  void break_off();

  Poller& poller_;
  const std::uint64_t key_;
  const int self_, peer_;
  const auth::Secret& secret_;

  State state_ = State::idle;
  Fd socket_;
  std::optional<auth::Handshake> handshake_;
  std::int64_t deadline_ = 0;  // of the attempt
  std::int64_t retry_at_ = 0;
  std::int64_t backoff_ns_ = 0;

  std::vector<std::byte> head_and_prefix_;  // of the frame that is being written
  std::span<const std::byte> data_;
  std::size_t written_ = 0;
  bool awaits_room_ = false;
  Transfer* transfer_ = nullptr;
};

}  // namespace resprout::runtime::tcp
