#include "runtime/pulses/pulses.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace resprout::runtime {
namespace {

bool hold(robust_list_head* head) { return syscall(SYS_set_robust_list, head, sizeof *head) == 0; }

}  // namespace

// It interrupts all cores on which processes run that have registered.
void Pulses::settle() { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

void Pulse::start(const Pulses& pulses, int world_rank) {
  for (std::size_t i = 0; i < pulses.world_ranks_.size(); ++i)
    if (pulses.world_ranks_[i] == world_rank) word_ = pulses.words_ + i;
  if (word_ == nullptr) return;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) != 0) {
    word_ = nullptr;
    return;
  }
  node_.next = &head_.list;
  head_.list.next = &node_;
  head_.futex_offset = reinterpret_cast<char*>(word_) - reinterpret_cast<char*>(&node_);
  head_.list_op_pending = nullptr;
  const auto self = static_cast<std::uint32_t>(syscall(SYS_gettid));
  if (hold(&head_))
    std::atomic_ref(*word_).store(self, std::memory_order_release);
  else
    word_ = nullptr;
}

void Pulse::stop() {
  if (word_ == nullptr) return;
  std::atomic_ref(*word_).store(0, std::memory_order_release);
  head_.list.next = &head_.list;  // an empty one, which is no hold
  word_ = nullptr;
}

}  // namespace resprout::runtime
