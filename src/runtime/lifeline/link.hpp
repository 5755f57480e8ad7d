// One authenticated connection between two lifelines, for news in both directions.
//
// Thread rule: the lifeline's thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/lifeline/news.hpp"
#include "runtime/net/proven_stream.hpp"

namespace resprout::runtime {

class Link {
 public:
  using State = ProvenStream::State;

  // The two ways in which a link begins. `deadline`: when it must be established.
  static Link accept(Fd socket, const auth::Secret& secret, int self, std::int64_t deadline);
  static Link initiate(const std::string& address, std::uint16_t port, const auth::Secret& secret,
                       int self, int peer, std::int64_t deadline);

  State state() const { return stream_.state(); }
  bool is_young() const { return stream_.is_young(); }
  bool is_established() const { return stream_.is_open(); }
  bool is_over() const { return stream_.is_over(); }
  // Whether this process began it.
  bool is_own() const { return stream_.is_own(); }
  // The rank at the other end; -1: not known yet.
  int peer() const { return stream_.peer(); }
  std::int64_t deadline() const { return deadline_; }
  auth::Failure failure() const { return stream_.failure(); }
  // REQUIRES: failure() == other_version.
  int peer_version() const { return stream_.peer_version(); }
  Fd& socket() { return stream_.socket(); }
  // What to wait for.
  std::uint32_t events() const { return stream_.events(); }

  // Moves what can be moved; what has come is appended to `received`.
  void advance(std::vector<Said>& received);
  // Says it when there is room. A peer that reads nothing for long loses the link.
  void say(const News& news);
  // The same of a message of the membership, which is also kept until the link is established.
  // REQUIRES: no longer than message_bytes_max.
  void say(std::span<const std::uint8_t> message);
  // Whatever it has come to, it is not wanted.
  void give_up() { stream_.reject(); }
  bool has_unsent() const { return stream_.has_unsent(); }

 private:
  Link(ProvenStream stream, std::int64_t deadline)
      : stream_(std::move(stream)), deadline_(deadline) {}

  ProvenStream stream_;
  std::int64_t deadline_;
};

}  // namespace resprout::runtime
