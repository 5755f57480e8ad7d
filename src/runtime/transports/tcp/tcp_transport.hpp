// Frames between hosts, over TCP. Each ordered pair of processes that talks has a connection of its
// own, made by the sender at its first frame: no crossing connections to settle.
//
// A connection starts with the handshake of runtime/auth; until the peer has proved itself nothing
// else is read, and it may take no longer than the handshake deadline. Data is never buffered here:
// it is referenced until the kernel has taken it, and read to where it belongs.
//
// What frames look like on the wire stands in wire.hpp.
//
// Thread rule: as in runtime/transport.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/auth/secret.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

struct TcpEndpoint {
  std::string address;  // numeric IPv4 or IPv6
  std::uint16_t port = 0;
};

class TcpTransport final : public Transport {
 public:
  // Listens at once, on a port that the kernel chooses. Throws std::system_error.
  TcpTransport(int self_rank, const auth::Secret& secret, const std::string& listen_address);
  ~TcpTransport() override;

  std::uint16_t port() const;

  // `peers[i]` is where rank i listens. REQUIRES: called once, before all that follows.
  void set_peers(std::vector<TcpEndpoint> peers);

  bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                std::span<const std::byte> data, Transfer& transfer) override;
  bool progress(Receiver& receiver) override;
  void close_peer(int peer, Receiver& receiver) override;
  bool is_flushed() const override;
  std::uint64_t heard_of(int peer) const override;

  // An epoll descriptor, readable when `progress` has something to do: for a waiter that sleeps.
  int pollable_fd() const override;

  // Connections that were dropped before they proved to belong to the job.
  std::uint64_t rejected_connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace resprout::runtime
