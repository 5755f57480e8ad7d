#include "runtime/death_marks/death_marks.hpp"

#include <dirent.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "runtime/death_marks/process.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::runtime {
namespace {

constexpr int lowest_priority = 19;
// A turn of the processor is long enough to go on with a collective.
constexpr std::int64_t turn_ns = 50'000;

// False: the system cannot do it.
bool register_for_settling() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

template <typename Visit>  // (pid_t)
void for_each_thread(pid_t pid, Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(
      opendir(("/proc/" + std::to_string(pid) + "/task").c_str()), closedir);
  if (threads == nullptr) return;
  while (const dirent* entry = readdir(threads.get()))
    if (const long thread = std::strtol(entry->d_name, nullptr, 10); thread > 0)
      visit(static_cast<pid_t>(thread));
}

void take_over(pid_t thread) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(thread, sizeof here, &here);
}

}  // namespace

std::size_t DeathMarks::place_of(int world_rank) const {
  for (std::size_t i = 0; i < world_ranks_.size(); ++i)
    if (world_ranks_[i] == world_rank) return i;
  return nobody;
}

bool DeathMarks::has_died(int world_rank) const {
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
void DeathMarks::settle() { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

void DeathMarks::let_others_pass(int world_rank) const {
  Owner& owner = owners_[place_of(world_rank)];
  const std::int64_t now = monotonic_ns();
  std::int64_t before = owner.passed_at_ns.load(std::memory_order_relaxed);
  if (now < before + turn_ns || !owner.passed_at_ns.compare_exchange_strong(before, now)) return;
  const pid_t pid = owner.pid.load(std::memory_order_acquire);
  const auto status = process_status(pid);  // by now another one may have its number
  if (!status || status->start_time != owner.start_time) return;
  if (before == 0)
    for_each_thread(
        pid, [](pid_t it) { setpriority(PRIO_PROCESS, static_cast<id_t>(it), lowest_priority); });
  else
    for_each_thread(pid, take_over);
}

void DeathMarks::prepare() {
  struct stat threads{};  // a folder for each: 2 links more than that
  if (stat("/proc/self/task", &threads) == 0 && threads.st_nlink == 3) register_for_settling();
}

void DeathMarks::count(int world_rank) const {
  const std::size_t place = place_of(world_rank);
  if (place == nobody) return;
  if (!register_for_settling()) return;
  const auto status = process_status(getpid());
  if (!status) return;
  owners_[place].start_time = status->start_time;
  owners_[place].pid.store(getpid(), std::memory_order_release);
}

void DeathMark::start(const DeathMarks& death_marks, int world_rank) {
  const std::size_t place = death_marks.place_of(world_rank);
  if (place == DeathMarks::nobody) return;
  mutex_ = death_marks.mutexes_ + place;
  owner_ = death_marks.owners_ + place;
  pthread_mutexattr_t shared;
  pthread_mutexattr_init(&shared);
  pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex_, &shared);
  pthread_mutexattr_destroy(&shared);
  pthread_mutex_lock(mutex_);
}

void DeathMark::stop() {
  if (mutex_ == nullptr) return;
  owner_->pid.store(0, std::memory_order_release);
  pthread_mutex_unlock(mutex_);
  mutex_ = nullptr;
}

}  // namespace resprout::runtime
