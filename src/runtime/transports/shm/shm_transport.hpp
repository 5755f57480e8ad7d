// Frames between the processes of one host, through rings in shared memory. No system calls.
//
// Small frames are one record of a ring and are delivered where they stand. Larger ones flow
// through the ring in pieces, copied in and copied out while both ends make progress; data that
// lies in the sender's arena is passed by reference and not copied at all.
//
// Thread rule: as in runtime/transport.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/transport.hpp"
#include "runtime/transports/shm/segment.hpp"

namespace resprout::runtime {

class ShmTransport final : public Transport {
 public:
  // `world_ranks` of the host, ascending, the same list at all of them; this process is
  // world_ranks[self]. REQUIRES: segment->sizes().local_ranks == world_ranks.size().
  ShmTransport(std::unique_ptr<ShmSegment> segment, std::span<const int> world_ranks, int self);
  ~ShmTransport() override;

  bool reaches(int peer) const;

  bool try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                std::span<const std::byte> data, Transfer& transfer) override;
  bool progress(Receiver& receiver) override;
  void close_peer(int peer, Receiver& receiver) override;
  bool is_flushed() const override;
  bool shares_memory_with(int peer) const override { return reaches(peer); }
  // Of all segments of this process.
  bool withdraw() override;
  bool has_withdrawn(int peer) const override;
  Doorbell bell() const override;
  NoticeBoard board() const override;
  DeathMarks death_marks() const override;
  SlotPoolMemory shared_slots() const override;
  bool passes_by_reference(int peer, std::span<const std::byte> data) const override;
  std::byte* allocate_shared(std::size_t bytes) override;
  void free_shared(std::byte* block) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace resprout::runtime
