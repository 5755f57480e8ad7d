// One authenticated connection of a membership. Who began it speaks, the other listens: so an
// answer travels over the other's own connection, and each knows from its own whether the other is
// there.
//
// Thread rule: the member's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/auth/handshake.hpp"
#include "runtime/member/statistics.hpp"
#include "runtime/member/wire.hpp"
#include "runtime/net/poller.hpp"

namespace resprout::runtime::member {

class Link {
 public:
  enum class State : std::uint8_t {
    connecting,
    proving,
    open,
    refused,  // nobody listens there: the process is gone
    closed,   // it broke, or did not come to be for another reason
  };

  static Link accept(Fd socket, const auth::Secret& secret);
  static Link connect(const Address& address, const auth::Secret& secret);

  State state() const { return state_; }
  bool is_own() const { return is_own_; }
  bool is_over() const { return state_ == State::refused || state_ == State::closed; }
  bool has_opened() const { return has_opened_; }
  Fd& socket() { return socket_; }
  std::uint32_t events() const;

  // Moves what can be moved; the frames that have come are appended. A wrong one closes the link.
  void advance(std::vector<Frame>& received);
  // Says it as soon as the link is open and there is room.
  void say(const Frame& frame);
  void close() { state_ = State::closed; }
  const Traffic& sent() const { return sent_; }
  const Traffic& received() const { return received_; }

 private:
  Link(Fd socket, auth::Handshake handshake, bool is_own, State state)
      : socket_(std::move(socket)), handshake_(handshake), is_own_(is_own), state_(state) {}
  void flush();
  void receive(std::vector<Frame>& received);

  Fd socket_;
  auth::Handshake handshake_;
  bool is_own_;
  bool has_opened_ = false;
  State state_;
  Bytes unsent_;
  Bytes unread_;
  Traffic sent_;
  Traffic received_;
};

}  // namespace resprout::runtime::member
