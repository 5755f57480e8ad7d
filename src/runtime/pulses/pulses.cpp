#include "runtime/pulses/pulses.hpp"

#include <dirent.h>
#include <linux/membarrier.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "runtime/pulses/process.hpp"

namespace resprout::runtime {
namespace {

constexpr int lowest_priority = 19;

}  // namespace

std::size_t Pulses::place_of(int world_rank) const {
  for (std::size_t i = 0; i < world_ranks_.size(); ++i)
    if (world_ranks_[i] == world_rank) return i;
  return nobody;
}

bool Pulses::has_died(int world_rank) const {
  const std::size_t place = place_of(world_rank);
  if (place == nobody || !is_marked(place)) return false;
  const Owner& owner = owners_[place];
  const pid_t pid = owner.pid.load(std::memory_order_acquire);
  if (pid == 0) return false;
  const auto status = process_status(pid);
  return !status || status->start_time != owner.start_time || status->has_ended() ||
         status->is_killed;
}

// It interrupts all cores on which processes run that have registered.
void Pulses::settle() { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

void Pulses::let_others_pass(int world_rank) const {
  const pid_t pid = owners_[place_of(world_rank)].pid.load(std::memory_order_acquire);
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(
      opendir(("/proc/" + std::to_string(pid) + "/task").c_str()), closedir);
  if (threads == nullptr) return;
  while (const dirent* entry = readdir(threads.get()))
    if (const long thread = std::strtol(entry->d_name, nullptr, 10); thread > 0)
      setpriority(PRIO_PROCESS, static_cast<id_t>(thread), lowest_priority);
}

void Pulses::count(int world_rank) const {
  const std::size_t place = place_of(world_rank);
  if (place == nobody) return;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) != 0) return;
  const auto status = process_status(getpid());
  if (!status) return;
  owners_[place].start_time = status->start_time;
  owners_[place].pid.store(getpid(), std::memory_order_release);
}

void Pulse::start(const Pulses& pulses, int world_rank) {
  const std::size_t place = pulses.place_of(world_rank);
  if (place == Pulses::nobody) return;
  mutex_ = pulses.mutexes_ + place;
  owner_ = pulses.owners_ + place;
  pthread_mutexattr_t shared;
  pthread_mutexattr_init(&shared);
  pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex_, &shared);
  pthread_mutexattr_destroy(&shared);
  pthread_mutex_lock(mutex_);
}

void Pulse::stop() {
  if (mutex_ == nullptr) return;
  owner_->pid.store(0, std::memory_order_release);
  pthread_mutex_unlock(mutex_);
  mutex_ = nullptr;
}

}  // namespace resprout::runtime
