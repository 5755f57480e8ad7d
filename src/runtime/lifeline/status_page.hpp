// One page of shared memory that a process shows to the others on its host: its heartbeat, its
// goodbye, and, if it has to be ended, who ends it.
//
// Like the shm transport's segment it is an anonymous memory file, found through /proc/PID/fd, and
// goes with the last process that maps it.
//
// Thread rule: the fields are atomics; any process may read them at any time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "runtime/net/fd.hpp"

namespace resprout::runtime {

struct Status {
  std::atomic<std::uint64_t> heartbeat;  // grows while the process runs
  std::atomic<std::uint32_t> goodbye;    // 1: it leaves, its end is no loss
  std::atomic<std::uint32_t> ended_by;   // 1 + the rank that ends it because it hangs; 0: nobody
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class StatusPage {
 public:
  StatusPage() = default;
  StatusPage(StatusPage&& other) noexcept;
  StatusPage& operator=(StatusPage&& other) noexcept;
  ~StatusPage();

  // A page of one's own. Throws std::system_error.
  static StatusPage create();
  // The page that another process has open as `fd`; not open (and errno) if there is none.
  static StatusPage open(pid_t pid, int fd);

  bool is_open() const { return status_ != nullptr; }
  int fd() const { return fd_.get(); }  // of a page of one's own
  Status* operator->() const { return status_; }

 private:
  bool map();

  Status* status_ = nullptr;
  Fd fd_;
};

}  // namespace resprout::runtime
