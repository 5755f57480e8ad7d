// What the program asks the system for, and who answers: the process itself, or one replica for
// all.
//
// A program decides by such answers, adds them up and sends them; replicas that had answers of
// their own would do different things, or be taken for corrupted. So the replica that decides what
// may differ (decided.hpp) asks for all. Before MPI_Init no other replica can be asked; then an
// answer stands that the launcher has given to all.
//
// Only what the program asks for, on its main thread and outside of MPI's calls: the MPI library
// asks for itself, and so do other threads, whose order nobody knows. A program that has asked for
// MPI_THREAD_MULTIPLE is answered alike until it makes a thread, but for clocks: it may read them
// in a loop that waits for something, a different number of times in each replica.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/policies/replicas/program_calls.hpp"
#include "mpi/policies/replicas/undecided.hpp"

namespace resprout::shim {

enum class Whose : int {
  own,     // the process's
  stands,  // before MPI_Init
  decided,
};

// What is answered alike: clocks (RESPROUT_CLOCKS), or the rest (RESPROUT_SYSTEM). Lives as long as
// the process. `begin`: what the launcher has asked for, before `main`.
class Answers {
 public:
  // What becomes of a program that asks MPI for MPI_THREAD_MULTIPLE.
  enum class IfMultiple { own, decided_until_threads };

  // `in_thread`: what it is called if other threads ask for it.
  constexpr Answers(const char* in_thread, IfMultiple if_multiple)
      : if_multiple_(if_multiple), in_thread_(in_thread) {}
  // By the main thread.
  void begin();
  // As long as others can be asked, and until they cannot any more.
  void open();
  void close() { whose_.store(Whose::own); }
  bool is_own() const { return whose_.load(std::memory_order_relaxed) == Whose::own; }

  // Whose answer it is that is asked for there.
  Whose whose_for(const void* caller);
  // What the program gets there where the process itself would get `value`: that, or what
  // `standing()` is before MPI_Init, or what is decided.
  template <typename T, typename Standing>
  T answer(T value, const void* caller, Standing standing) {
    const Whose now = whose_for(caller);
    if (now == Whose::stands) return standing();
    if (now == Whose::decided) decide(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  // `own` becomes what is decided.
  static void decide(std::span<std::byte> own);

 private:
  const IfMultiple if_multiple_;
  std::atomic<Whose> whose_{Whose::own};
  Undecided in_thread_;
};

}  // namespace resprout::shim
