// Tests with real processes: fork some, let each run a function, wait for them, and never hang.
//
// A child must not use doctest: it calls `expect`, which ends it with a message on stderr. Each
// child has an alarm that ends it, so that a test that hangs is a test that fails.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <vector>

namespace resprout::runtime::testing {

inline constexpr unsigned watchdog_seconds = 60;

inline void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "process %d: expected that %s\n", static_cast<int>(getpid()), what);
  _exit(99);
}

// A T that is shared by this process and those it forks, zero at first.
template <typename T>
class Shared {
 public:
  Shared() {
    void* memory =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    value_ = new (memory) T{};
  }
  ~Shared() { munmap(value_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

class Processes {
 public:
  // Forks `count` children; child i runs body(i) and ends with 0. One that has not after `seconds`
  // is ended.
  template <typename Body>
  Processes(int count, Body body, unsigned seconds = watchdog_seconds) {
    std::fflush(nullptr);
    for (int i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        alarm(seconds);
        body(i);
        _exit(0);
      }
      pids_.push_back(pid);
    }
    statuses_.assign(pids_.size(), -1);
  }

  ~Processes() {
    for (std::size_t i = 0; i < pids_.size(); ++i)
      if (statuses_[i] == -1) {
        kill(pids_[i], SIGKILL);
        wait(static_cast<int>(i));
      }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  pid_t pid(int i) const { return pids_[static_cast<std::size_t>(i)]; }
  void signal(int i, int number) const { kill(pid(i), number); }

  // The exit status of child i, or minus the signal that ended it.
  int wait(int i) {
    int& status = statuses_[static_cast<std::size_t>(i)];
    if (status == -1) {
      int raw = 0;
      if (waitpid(pids_[static_cast<std::size_t>(i)], &raw, 0) < 0) return 98;
      status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 256 + WTERMSIG(raw);
    }
    return status < 256 ? status : 256 - status;
  }

  // Still there, or ended but not waited for: false only after it has really ended.
  bool is_running(int i) const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pids_[static_cast<std::size_t>(i)]), &info,
                  WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

 private:
  std::vector<pid_t> pids_;
  std::vector<int> statuses_;
};

inline void nap_ms(int milliseconds) { usleep(static_cast<useconds_t>(milliseconds) * 1000); }

}  // namespace resprout::runtime::testing
