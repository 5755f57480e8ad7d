// One authenticated connection between two lifelines, for news in both directions.
//
// Thread rule: the lifeline's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/auth/handshake.hpp"
#include "runtime/lifeline/news.hpp"
#include "runtime/net/poller.hpp"

namespace resprout::runtime {

class Link {
 public:
  enum class State : std::uint8_t {
    connecting,
    proving,
    established,
    refused,   // nobody listens there: the process is gone
    rejected,  // it did not come to be, for any other reason
    ended,     // it was established and broke
  };

  // The two ways in which a link begins. `deadline`: when it must be established.
  static Link accept(Fd socket, const auth::Secret& secret, int self, std::int64_t deadline);
  static Link initiate(const std::string& address, std::uint16_t port, const auth::Secret& secret,
                       int self, int peer, std::int64_t deadline);

  State state() const { return state_; }
  bool is_young() const { return state_ == State::connecting || state_ == State::proving; }
  bool is_established() const { return state_ == State::established; }
  bool is_over() const { return !is_young() && !is_established(); }
  // Whether this process began it.
  bool is_own() const { return is_own_; }
  // The rank at the other end; -1: not known yet.
  int peer() const { return is_own_ || !is_young() ? handshake_.peer() : -1; }
  std::int64_t deadline() const { return deadline_; }
  Fd& socket() { return socket_; }
  // What to wait for.
  std::uint32_t events() const;

  // Moves what can be moved; what has come is appended to `received`.
  void advance(std::vector<News>& received);
  // Says it when there is room. A peer that reads nothing for long loses the link.
  void say(const News& news);
  // It took too long to come to be.
  void give_up() { state_ = State::rejected; }
  bool has_unsent() const { return !unsent_.empty(); }

 private:
  Link(Fd socket, auth::Handshake handshake, bool is_own, State state, std::int64_t deadline)
      : socket_(std::move(socket)),
        handshake_(handshake),
        is_own_(is_own),
        state_(state),
        deadline_(deadline) {}

  void receive(std::vector<News>& received);
  void flush();

  Fd socket_;
  auth::Handshake handshake_;
  bool is_own_;
  State state_;
  std::int64_t deadline_;
  std::vector<std::uint8_t> unsent_;
  std::uint8_t buffer_[sizeof(News)];
  std::size_t buffered_ = 0;  // the beginning of a message
};

}  // namespace resprout::runtime
