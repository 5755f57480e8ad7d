// One authenticated connection of a membership. Who began it speaks, the other listens: so an
// answer travels over the other's own connection, and each knows from its own whether the other is
// there.
//
// Thread rule: the member's thread.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/member/statistics.hpp"
#include "runtime/member/wire.hpp"
#include "runtime/net/proven_stream.hpp"

namespace resprout::runtime::member {

class Link {
 public:
  using State = ProvenStream::State;

  // REQUIRES: as Handshake::initiate of the secrets, of which an acceptor uses the first.
  static Link accept(Fd socket, std::span<const auth::Secret> secrets);
  static Link connect(const Address& address, std::span<const auth::Secret> secrets);

  State state() const { return stream_.state(); }
  bool is_own() const { return stream_.is_own(); }
  bool is_over() const { return stream_.is_over(); }
  bool has_opened() const { return stream_.has_opened(); }
  auth::Failure failure() const { return stream_.failure(); }
  // REQUIRES: failure() == other_version.
  int peer_version() const { return stream_.peer_version(); }
  Fd& socket() { return stream_.socket(); }
  std::uint32_t events() const { return stream_.events(); }

  // Moves what can be moved; the frames that have come are appended. A wrong one closes the link.
  void advance(std::vector<Frame>& received);
  // Says it as soon as the link is open and there is room.
  void say(const Frame& frame);
  void close() { stream_.end(); }
  std::size_t unsent_bytes() const { return stream_.unsent_bytes(); }
  // Whether it was closed for what the peer has said.
  bool is_malformed() const { return is_malformed_; }
  const Traffic& sent() const { return sent_; }
  const Traffic& received() const { return received_; }

 private:
  explicit Link(ProvenStream stream) : stream_(std::move(stream)) {}

  ProvenStream stream_;
  bool is_malformed_ = false;
  Traffic sent_;
  Traffic received_;
};

}  // namespace resprout::runtime::member
