// A connection whose ends prove to each other that they know a secret before anything is said, and
// that never waits: what there is no room for is kept, what has come in part is kept, too.
//
// What the bytes mean is its owner's business, as are retries and deadlines.
//
// Invariants
//  1. Nothing that was said before both ends have proven themselves is given to the owner.
//  2. What the peer has said before it went is given to the owner before the stream is over.
//  3. The state only goes forward: `ended` was open once; `rejected` was not, or its owner did not
//     want the peer.
//
// Thread rule: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/auth/handshake.hpp"
#include "runtime/net/poller.hpp"

namespace resprout::runtime {

class ProvenStream {
 public:
  enum class State : std::uint8_t {
    connecting,
    proving,
    open,
    refused,   // nobody listens there: the process is gone
    rejected,  // it did not come to be, for any other reason
    ended,     // it was open and broke
  };
  // Is given what has come and was not used yet; says how much of it is used now. Nothing: it makes
  // no sense, and the stream is over.
  using Take = std::function<std::optional<std::size_t>(std::span<const std::uint8_t>)>;

  // The two ways in which it begins. Beyond `unsent_max` bytes the peer counts as one that does not
  // read, and loses the stream.
  static ProvenStream accept(Fd socket, const auth::Handshake& handshake, std::size_t unsent_max);
  static ProvenStream connect(const std::string& address, std::uint16_t port,
                              const auth::Handshake& handshake, std::size_t unsent_max);

  State state() const { return state_; }
  bool is_young() const { return state_ == State::connecting || state_ == State::proving; }
  bool is_open() const { return state_ == State::open; }
  bool is_over() const { return !is_young() && !is_open(); }
  bool has_opened() const { return is_open() || state_ == State::ended; }
  // Whether this process began it.
  bool is_own() const { return is_own_; }
  // As whom the other end proved itself; -1: not known yet.
  int peer() const { return is_own_ || has_opened() ? handshake_.peer() : -1; }
  // Why the two ends did not come together; none: they did, or the handshake is not what failed.
  auth::Failure failure() const { return handshake_.failure(); }
  // REQUIRES: failure() == other_version.
  int peer_version() const { return handshake_.peer_version(); }
  Fd& socket() { return socket_; }
  // What to wait for.
  std::uint32_t events() const;

  // Moves what can be moved.
  void advance(const Take& take);
  // As soon as it is open and there is room.
  void say(std::span<const std::uint8_t> bytes);
  bool has_unsent() const { return !unsent_.empty(); }
  std::size_t unsent_bytes() const { return unsent_.size(); }
  // The other end closed it before it was open, so it has read nothing of what was said.
  bool was_given_up() const {
    return state_ == State::rejected && failure() == auth::Failure::lost;
  }
  std::vector<std::uint8_t> take_unsent() { return std::exchange(unsent_, {}); }
  // It breaks here.
  void end() {
    if (!is_over()) state_ = is_open() ? State::ended : State::rejected;
  }
  // As if it had not come to be, whatever it has come to.
  void reject() { state_ = State::rejected; }

 private:
  ProvenStream(Fd socket, const auth::Handshake& handshake, bool is_own, State state,
               std::size_t unsent_max)
      : socket_(std::move(socket)),
        handshake_(handshake),
        is_own_(is_own),
        state_(state),
        unsent_max_(unsent_max) {}

  void flush();
  void receive(const Take& take);

  Fd socket_;
  auth::Handshake handshake_;
  bool is_own_;
  State state_;
  std::size_t unsent_max_;
  std::vector<std::uint8_t> unsent_;
  std::vector<std::uint8_t> unused_;
};

}  // namespace resprout::runtime
