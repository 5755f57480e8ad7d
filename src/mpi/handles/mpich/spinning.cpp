#include "mpi/handles/mpich/spinning.hpp"

#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>

namespace resprout::shim {
namespace {

// Executable code of one library: where it begins and ends.
struct Code {
  std::uintptr_t address = 0;  // of a function of it
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

constexpr long interval_ns = 5'000'000;
constexpr int looks_in_a_row = 10;

Code library_code;
void (*look_at)() = nullptr;
volatile sig_atomic_t looks = 0;

int find_code(dl_phdr_info* info, std::size_t, void* of) {
  Code& wanted = *static_cast<Code*>(of);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (wanted.address < begin || wanted.address >= begin + part.p_memsz) continue;
    wanted.begin = begin;
    wanted.end = begin + part.p_memsz;
    return 1;
  }
  return 0;
}

std::uintptr_t interrupted_at(void* context) {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
  return 0;  // never in the library
#endif
}

void interrupt(int, siginfo_t*, void* context) {
  const std::uintptr_t here = interrupted_at(context);
  const bool is_inside = library_code.begin <= here && here < library_code.end;
  looks = is_inside ? looks + 1 : 0;
  if (looks >= looks_in_a_row) look_at();
}

// One that nobody uses; 0: there is none.
int free_signal() {
  for (int number = SIGRTMAX; number >= SIGRTMIN; --number) {
    struct sigaction now{};
    const bool is_known = sigaction(number, nullptr, &now) == 0;
    if (is_known && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) return number;
  }
  return 0;
}

}  // namespace

SpinWatch::SpinWatch(void* address, void (*look)()) {
  library_code = Code{.address = reinterpret_cast<std::uintptr_t>(address)};
  look_at = look;
  looks = 0;
  const int number = free_signal();
  if (number == 0 || dl_iterate_phdr(find_code, &library_code) == 0) return;

  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = number;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) return;
  signal_ = number;

  struct sigaction ours{};
  ours.sa_sigaction = interrupt;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(signal_, &ours, &before_);
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, signal_);
  pthread_sigmask(SIG_UNBLOCK, &wanted, &blocked_before_);
  const itimerspec often{.it_interval = {0, interval_ns}, .it_value = {0, interval_ns}};
  timer_settime(timer_, 0, &often, nullptr);
}

SpinWatch::~SpinWatch() {
  if (signal_ == 0) return;
  timer_delete(timer_);
  // One that is on its way already finds nobody.
  struct sigaction none{};
  none.sa_handler = SIG_IGN;
  sigaction(signal_, &none, nullptr);
  pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
  sigaction(signal_, &before_, nullptr);
}

}  // namespace resprout::shim
