#include "mpi/policies/replicas/system_answers.hpp"

#include <mpi.h>
#include <pthread.h>

#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/inside_call.hpp"

namespace resprout::shim {
namespace {

std::atomic<bool> has_threads{false};
std::atomic<bool> allows_threads{true};  // not with MPI_THREAD_MULTIPLE

}  // namespace

void Answers::begin() {
  note_program();
  begin_undecided();
  whose_.store(Whose::stands);
}

void Answers::open() {
  if (is_own()) return;
  int level = MPI_THREAD_SINGLE;
  int is_main_of_mpi = 0;
  PMPI_Query_thread(&level);
  PMPI_Is_thread_main(&is_main_of_mpi);
  allows_threads.store(level != MPI_THREAD_MULTIPLE);
  const bool is_one_thread =
      allows_threads.load() ||
      (if_multiple_ == IfMultiple::decided_until_threads && !has_threads.load());
  whose_.store(is_one_thread && is_main_of_mpi != 0 && is_main_thread() ? Whose::decided
                                                                        : Whose::own);
}

Whose Answers::whose_for(const void* caller) {
  const Whose now = whose_.load(std::memory_order_relaxed);
  if (now == Whose::own || InsideCall::is_any()) return Whose::own;
  // MPI reads a clock whenever it looks for messages: the system is asked last.
  const bool is_in_thread =
      !is_main_thread() || (now == Whose::decided && has_threads.load() && !allows_threads.load());
  if (is_in_thread) return in_thread_.note(caller), Whose::own;
  return is_program(caller) && real_pid() == program_pid() ? now : Whose::own;
}

void Answers::decide(std::span<std::byte> own) {
  const InsideCall inside;
  if (Decided* by = decided.load(std::memory_order_acquire)) by->clock(own);
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* with) {
  static std::atomic<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> found{
      nullptr};
  const void* const caller = RESPROUT_CALLER;
  if (!has_threads.load(std::memory_order_relaxed) && program_pid() != 0 && !InsideCall::is_any() &&
      is_program(caller) && makes_threads(caller))
    has_threads.store(true);
  return behind(found, "pthread_create")(thread, attributes, run, with);
}
