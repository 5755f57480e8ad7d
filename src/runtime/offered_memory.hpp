// A process's own memory, offered to the others of its host: they copy it to where they want it, in
// one copy and without the owner's doing (process_vm_readv). Nothing is shared for it.
//
// Invariants
//  1. What was read is what was offered, whatever the owner has done since: it takes the offer back
//     before it writes there, and who reads looks behind that whether it still stands.
//  2. No other memory is taken for it, though the owner has ended and another process has its id.
//
// Where the system does not allow it (Yama's ptrace_scope, containers apart), reading fails.
// Thread rule: an offer is its owner's; who reads needs no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace resprout::runtime {

// Travels as it stands in memory.
struct MemoryOffer {
  std::int64_t pid = 0;
  std::uint64_t data_at = 0;   // addresses of the owner's
  std::uint64_t stamp_at = 0;  // there `stamp` stands as long as the offer does
  std::uint64_t stamp = 0;
};

class OfferedMemory {
 public:
  // Until it is destroyed. `data` may be written from then on, and not before.
  explicit OfferedMemory(std::span<const std::byte> data);
  ~OfferedMemory();
  OfferedMemory(const OfferedMemory&) = delete;
  OfferedMemory& operator=(const OfferedMemory&) = delete;

  const MemoryOffer& offer() const { return offer_; }

 private:
  std::atomic<std::uint64_t> stamp_;
  MemoryOffer offer_;
};

enum class MemoryRead : std::uint8_t {
  done,
  gone,     // the owner has ended, or has taken it back
  refused,  // the system does not let this process read there
};

// How it is read. Tests have others.
class MemoryReader {
 public:
  // `into.size()` bytes from `offset` on.
  virtual MemoryRead read(const MemoryOffer& offer, std::size_t offset,
                          std::span<std::byte> into) = 0;
  // Done: what was read before is what was offered.
  virtual MemoryRead confirm(const MemoryOffer& offer) = 0;

 protected:
  ~MemoryReader() = default;
};

class SystemMemoryReader final : public MemoryReader {
 public:
  MemoryRead read(const MemoryOffer& offer, std::size_t offset, std::span<std::byte> into) override;
  MemoryRead confirm(const MemoryOffer& offer) override;
};

}  // namespace resprout::runtime
