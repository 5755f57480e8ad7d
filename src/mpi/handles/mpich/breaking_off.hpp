// A call of the MPI library that waits for a lost process is left in its midst.
//
// MPICH and Intel MPI know of no losses: what waits inside of them for a lost process waits for
// ever. But meanwhile they yield the processor again and again, by functions of the C library, and
// these are ours (breaking_off.cpp). MPI_Finalize of Intel MPI does not yield: a timer interrupts
// it (spinning.hpp). What was called stays half done in the library, so it must be something that
// nobody needs any more. In Open MPI all is as if there were none of this.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include "mpi/handles/errors/codes.hpp"

namespace resprout::shim {

#if defined(OPEN_MPI)

template <typename Call>
int unless_lost(Call&& call) {
  return call();
}

template <typename Call>
bool unless_killed(const char*, Call&& call) {
  call();
  return true;
}

#else

namespace detail {
// Whether somebody is lost, asked whenever the library has nothing to do.
using HasLost = bool (*)();
bool has_lost_in_world();
// False: `run(of)` was left in its midst.
bool run_unless(HasLost has_lost, void (*run)(void*), void* of);
// The same, and it is left where it spins without yielding, too.
bool run_unless_killed(void (*run)(void*), void* of);

// `run_directory`: where the launcher notes how processes have ended; empty: nobody does.
void look_for_killed_in(const char* run_directory);
bool has_noted_killed();

template <typename Call>
bool run_unless(HasLost has_lost, Call& call) {
  return run_unless(has_lost, [](void* of) { (*static_cast<Call*>(of))(); }, &call);
}
}  // namespace detail

// What the library's call returns; PROC_FAILED: it was left, as somebody in the world is lost.
// REQUIRES: no objects that have to be destroyed live in `call` while it is in the library.
template <typename Call>
int unless_lost(Call&& call) {
  int code = MPI_SUCCESS;
  auto run = [&] { code = call(); };
  return detail::run_unless(detail::has_lost_in_world, run) ? code : proc_failed();
}

// The same where the job's losses are not heard of any more: in MPI_Finalize. False: it was left.
template <typename Call>
bool unless_killed(const char* run_directory, Call&& call) {
  detail::look_for_killed_in(run_directory);
  auto run = [&] { call(); };
  return detail::run_unless_killed([](void* of) { (*static_cast<decltype(run)*>(of))(); }, &run);
}

#endif

}  // namespace resprout::shim
