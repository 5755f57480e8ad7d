// What the program has asked for that may differ between replicas and is not decided: the launcher
// names it when replicas are found to differ, and where the program has asked.
//
// Of each call the first time leaves a note "undecided": {"call": "mkdtemp", "where":
// "program+0x1234 (main)"}, or, in Python, "script.py:12".
//
// Thread rule: from any thread.
#pragma once

#include <atomic>

namespace resprout::shim {

// A call that is not decided; static, and named once.
class Undecided {
 public:
  explicit constexpr Undecided(const char* call) : call_(call) {}
  // The program asks there. Nothing where answers are no business of replicas.
  void note(const void* caller) {
    if (!is_noted_.load(std::memory_order_relaxed)) [[unlikely]]
      leave_note(caller);
  }

 private:
  void leave_note(const void* caller);

  const char* const call_;
  std::atomic<bool> is_noted_{false};
};

// From now on notes are left. Before `main`.
void begin_undecided();
// Sums of threads depend on which of them comes first: noted if the program has several of OpenMP.
void note_openmp();

}  // namespace resprout::shim
