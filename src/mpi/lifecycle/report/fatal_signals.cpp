#include "mpi/lifecycle/report/fatal_signals.hpp"

#include <execinfo.h>
#include <signal.h>

#include "mpi/process/report/last_words.hpp"

namespace resprout::shim {
namespace {

constexpr int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

struct sigaction others[NSIG];

// The other one's handler is called when this one returns: by the same instruction, or by the same
// signal if a process has sent it.
void note(int signal, siginfo_t* info, void*) {
  leave_signal(signal);
  sigaction(signal, &others[signal], nullptr);
  if (info->si_code <= 0) raise(signal);
}

// Of the thread that calls MPI_Init: a handler has no room on a stack that has overflowed.
void have_own_stack() {
  alignas(16) static char memory[64 * 1024];
  stack_t stack;
  if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
  stack = {.ss_sp = memory, .ss_flags = 0, .ss_size = sizeof memory};
  sigaltstack(&stack, nullptr);
}

// The first call loads a library, and so asks for memory: a handler that makes it in a process
// which has crashed inside malloc waits for itself.
void prepare_to_print_stack() {
  void* frame = nullptr;
  backtrace(&frame, 1);
}

}  // namespace

void watch_fatal_signals() {
  have_own_stack();
  prepare_to_print_stack();
  struct sigaction own = {};
  own.sa_sigaction = note;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : watched) {
    struct sigaction other;
    if (sigaction(signal, nullptr, &other) != 0 || other.sa_handler == SIG_IGN) continue;
    const bool is_own = (other.sa_flags & SA_SIGINFO) != 0 && other.sa_sigaction == note;
    if (is_own) continue;
    others[signal] = other;
    sigaction(signal, &own, nullptr);
  }
}

}  // namespace resprout::shim
