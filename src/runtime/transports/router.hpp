// One transport made of two: shared memory to the peers on this host, TCP to all others.
//
// Thread rule: as in runtime/transport.hpp.
#pragma once

#include <memory>

#include "runtime/transports/shm/shm_transport.hpp"
#include "runtime/transports/tcp/tcp_transport.hpp"

namespace resprout::runtime {

class Router final : public Transport {
 public:
  // Either may be null if no peer needs it.
  Router(std::unique_ptr<ShmTransport> shm, std::unique_ptr<TcpTransport> tcp)
      : shm_(std::move(shm)), tcp_(std::move(tcp)) {}

  bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                std::span<const std::byte> data, Transfer& transfer) override {
    return is_local(peer) ? shm_->try_send(peer, header, prefix, data, transfer)
                          : tcp_->try_send(peer, header, prefix, data, transfer);
  }

  bool progress(Receiver& receiver) override {
    const bool shm_moved = shm_ != nullptr && shm_->progress(receiver);
    const bool tcp_moved = tcp_ != nullptr && tcp_->progress(receiver);
    return shm_moved || tcp_moved;
  }

  void close_peer(int peer, Receiver& receiver) override {
    if (is_local(peer)) shm_->close_peer(peer, receiver);
    if (tcp_ != nullptr) tcp_->close_peer(peer, receiver);
  }

  bool is_flushed() const override {
    return (shm_ == nullptr || shm_->is_flushed()) && (tcp_ == nullptr || tcp_->is_flushed());
  }

  std::uint64_t heard_of(int peer) const override {
    return is_local(peer) ? 0 : tcp_->heard_of(peer);
  }
  bool shares_memory_with(int peer) const override { return is_local(peer); }
  bool withdraw() override { return shm_ == nullptr || shm_->withdraw(); }
  bool has_withdrawn(int peer) const override {
    return is_local(peer) && shm_->has_withdrawn(peer);
  }
  Doorbell bell() const override { return shm_ != nullptr ? shm_->bell() : Doorbell(); }
  NoticeBoard board() const override { return shm_ != nullptr ? shm_->board() : NoticeBoard(); }
  DeathMarks death_marks() const override {
    return shm_ != nullptr ? shm_->death_marks() : DeathMarks();
  }
  SlotPoolMemory shared_slots() const override {
    return shm_ != nullptr ? shm_->shared_slots() : SlotPoolMemory();
  }
  bool passes_by_reference(int peer, std::span<const std::byte> data) const override {
    return is_local(peer) && shm_->passes_by_reference(peer, data);
  }
  std::byte* allocate_shared(std::size_t bytes) override {
    return shm_ != nullptr ? shm_->allocate_shared(bytes) : nullptr;
  }
  void free_shared(std::byte* block) override { shm_->free_shared(block); }

  int pollable_fd() const override { return tcp_ != nullptr ? tcp_->pollable_fd() : -1; }
  std::uint64_t rejected_connections() const {
    return tcp_ != nullptr ? tcp_->rejected_connections() : 0;
  }

 private:
  bool is_local(int peer) const { return shm_ != nullptr && shm_->reaches(peer); }

  std::unique_ptr<ShmTransport> shm_;
  std::unique_ptr<TcpTransport> tcp_;
};

}  // namespace resprout::runtime
