// Whose call it is that the shim stands in front of: the program's, or that of a library.
//
// Thread rule: from any thread.
#pragma once

#include <dlfcn.h>
#include <sys/types.h>

#include <atomic>

namespace resprout::shim {

// This process, and its thread, are the program's. Before `main`, on its main thread.
void note_program();

// Whether it is the program that calls from there, in its own process: not the MPI library, not
// what it stands on, and no child. From any thread.
bool is_program(const void* caller);
bool is_main_thread();
// The process's own id, whatever the program is told.
pid_t real_pid();
// That of the program, where its main thread has begun; a child has it from its parent.
pid_t program_pid();

// Whether it is the program that makes a thread there, or what starts threads for it. Other
// libraries' threads ask for nothing that the program sends.
bool makes_threads(const void* caller);

// What the system has, behind ours.
template <typename Function>
Function* behind(std::atomic<Function*>& found, const char* name) {
  Function* function = found.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    found.store(function, std::memory_order_relaxed);
  }
  return function;
}

#define RESPROUT_CALLER __builtin_return_address(0)

}  // namespace resprout::shim
