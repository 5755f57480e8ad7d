#include "runtime/offered_memory.hpp"

#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "core/random.hpp"

namespace resprout::runtime {
namespace {

// Differs from all others of this process and, but for one case in 2^64, of any other one.
std::uint64_t next_stamp() {
  static std::atomic<std::uint64_t> count{0};
  static const std::uint64_t seed = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    std::uint64_t state =
        static_cast<std::uint64_t>(now.tv_sec) << 32 ^ static_cast<std::uint64_t>(now.tv_nsec);
    return splitmix64(state);
  }();
  std::uint64_t state = (seed + count.fetch_add(1)) ^ static_cast<std::uint64_t>(getpid()) << 40;
  return splitmix64(state) | 1;  // 0: there is none
}

bool is_refusal(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

MemoryRead read_at(std::int64_t pid, std::uintptr_t at, std::span<std::byte> into) {
  while (!into.empty()) {
    const iovec local{into.data(), into.size()};
    const iovec remote{std::bit_cast<void*>(at), into.size()};  // of the other process's
    const ssize_t bytes = process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0);
    if (bytes <= 0) return bytes < 0 && is_refusal(errno) ? MemoryRead::refused : MemoryRead::gone;
    at += static_cast<std::uint64_t>(bytes);
    into = into.subspan(static_cast<std::size_t>(bytes));
  }
  return MemoryRead::done;
}

}  // namespace

OfferedMemory::OfferedMemory(std::span<const std::byte> data)
    : stamp_(next_stamp()),
      offer_{getpid(), reinterpret_cast<std::uintptr_t>(data.data()),
             reinterpret_cast<std::uintptr_t>(&stamp_), stamp_.load()} {}

// Before whatever is written there.
OfferedMemory::~OfferedMemory() {
  stamp_.store(0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

MemoryRead SystemMemoryReader::read(const MemoryOffer& offer, std::size_t offset,
                                    std::span<std::byte> into) {
  return read_at(offer.pid, offer.data_at + offset, into);
}

// Behind what was read.
MemoryRead SystemMemoryReader::confirm(const MemoryOffer& offer) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint64_t stamp = 0;
  const MemoryRead read =
      read_at(offer.pid, offer.stamp_at, std::as_writable_bytes(std::span(&stamp, 1)));
  return read == MemoryRead::done && stamp != offer.stamp ? MemoryRead::gone : read;
}

}  // namespace resprout::runtime
