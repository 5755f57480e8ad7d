// What replicas are told alike of who and where they are, and what random numbers they get
// (RESPROUT_SYSTEM, system_answers.hpp).
//
// A process id is derived from what the launcher has given to all, so that it needs no other
// replica and is right on any thread. It is larger than any that the system gives (2^22), so it
// never names another process by mistake; calls that take one, and paths below /proc, are led back
// to the real one. Children have ids of their own.
//
// Random numbers come from a stream with the job's key before MPI_Init, and afterwards from the
// replica that decides: getrandom, getentropy, arc4random, std::random_device, /dev/urandom and
// /dev/random. So does the host's name.
#pragma once

#include <sys/types.h>

#include <climits>
#include <cstddef>
#include <span>

namespace resprout::shim {

// Of this process, from when `decided` is there until it is going to be no more. REQUIRES: MPI is
// initialized. Nothing where the launcher has not asked for it (RESPROUT_SYSTEM).
void open_system();
void close_system();

// The one for which what the program names stands: the process's own for that which it was told.
pid_t real_pid_of(pid_t pid);
// The same of a path below /proc.
class RealPath {
 public:
  explicit RealPath(const char* path);
  RealPath(const RealPath&) = delete;
  RealPath& operator=(const RealPath&) = delete;
  // As long as this and the path that it was made of are there.
  const char* get() const { return path_; }

 private:
  const char* path_;
  char room_[PATH_MAX];
};

// Random bytes, as replicas get them alike. False: the process gets its own.
bool fill_alike(std::span<std::byte> bytes, const void* caller);
// Whether what reads from /dev/urandom there gets them.
bool is_random_alike(const void* caller);

}  // namespace resprout::shim
