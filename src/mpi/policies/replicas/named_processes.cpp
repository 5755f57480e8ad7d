// Calls to which the program gives a process id, or a path below /proc, maybe the one that it was
// told (identity.hpp).
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mpi/policies/replicas/identity.hpp"
#include "mpi/policies/replicas/system_answers.hpp"

using namespace resprout::shim;

// `name(before, pid, after)` with the real id.
// NOLINTBEGIN(bugprone-macro-parentheses): what is declared cannot stand in any.
#define RESPROUT_OF_PROCESS(type, name, parameters, types, arguments) \
  extern "C" type name parameters {                                   \
    static std::atomic<type(*) types> found{nullptr};                 \
    return behind(found, #name) arguments;                            \
  }
// NOLINTEND(bugprone-macro-parentheses)

RESPROUT_OF_PROCESS(int, kill, (pid_t pid, int signal), (pid_t, int), (real_pid_of(pid), signal))
RESPROUT_OF_PROCESS(int, sigqueue, (pid_t pid, int signal, const sigval value),
                    (pid_t, int, sigval), (real_pid_of(pid), signal, value))
RESPROUT_OF_PROCESS(pid_t, getpgid, (pid_t pid), (pid_t), (real_pid_of(pid)))
RESPROUT_OF_PROCESS(pid_t, getsid, (pid_t pid), (pid_t), (real_pid_of(pid)))
RESPROUT_OF_PROCESS(int, setpgid, (pid_t pid, pid_t group), (pid_t, pid_t),
                    (real_pid_of(pid), real_pid_of(group)))
RESPROUT_OF_PROCESS(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t* cores),
                    (pid_t, size_t, cpu_set_t*), (real_pid_of(pid), size, cores))
RESPROUT_OF_PROCESS(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t* cores),
                    (pid_t, size_t, const cpu_set_t*), (real_pid_of(pid), size, cores))
RESPROUT_OF_PROCESS(int, sched_getscheduler, (pid_t pid), (pid_t), (real_pid_of(pid)))
RESPROUT_OF_PROCESS(int, getpriority, (__priority_which_t which, id_t who),
                    (__priority_which_t, id_t),
                    (which, static_cast<id_t>(real_pid_of(static_cast<pid_t>(who)))))
RESPROUT_OF_PROCESS(int, setpriority, (__priority_which_t which, id_t who, int priority),
                    (__priority_which_t, id_t, int),
                    (which, static_cast<id_t>(real_pid_of(static_cast<pid_t>(who))), priority))
RESPROUT_OF_PROCESS(ssize_t, process_vm_readv,
                    (pid_t pid, const iovec* own, unsigned long owns, const iovec* others,
                     unsigned long count, unsigned long flags),
                    (pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                     unsigned long),
                    (real_pid_of(pid), own, owns, others, count, flags))
RESPROUT_OF_PROCESS(ssize_t, readlink, (const char* path, char* target, size_t size),
                    (const char*, char*, size_t), (RealPath(path).get(), target, size))
RESPROUT_OF_PROCESS(DIR*, opendir, (const char* path), (const char*), (RealPath(path).get()))
RESPROUT_OF_PROCESS(int, access, (const char* path, int mode), (const char*, int),
                    (RealPath(path).get(), mode))
