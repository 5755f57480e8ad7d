#include "mpi/handles/openmpi/steps.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/handles/errors/codes.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct Part {
  Step next = nullptr;         // null: it is over, with an error
  std::vector<void*> awaited;  // parts whose end comes before it
  bool is_whole = false;       // it is a duplicate, part of nothing
};

// Never destroyed: the library makes progress to the end of the process. A part goes with its last
// step. Only one that ended with an error stays: until the one that waits for it has seen that, or
// for ever if a blocking call does, but then its entry serves the next part at that address.
struct Parts {
  runtime::Mutex mutex;
  std::unordered_map<void*, Part> all RESPROUT_GUARDED_BY(mutex);
};

Parts& parts() {
  static auto* instance = new Parts;
  return *instance;
}

void (*tell_over)(void* steps) = nullptr;

RESPROUT_FAST_THREAD_LOCAL bool is_starting = false;
RESPROUT_FAST_THREAD_LOCAL void* current = nullptr;  // whose step this thread is in

int run_step(void* steps) {
  Parts& p = parts();
  Step step = nullptr;
  bool is_broken = false;
  bool is_whole = false;
  {
    const runtime::MutexLock guard(p.mutex);
    Part& part = p.all[steps];
    step = std::exchange(part.next, nullptr);
    is_whole = part.is_whole;
    const std::vector<void*> awaited = std::move(part.awaited);
    for (void* const it : awaited) is_broken = p.all.erase(it) != 0 || is_broken;
  }
  int code = proc_failed();
  if (!is_broken) {
    void* const outer = std::exchange(current, steps);
    code = step(steps);
    current = outer;
  }
  const runtime::MutexLock guard(p.mutex);
  const bool is_over = p.all[steps].next == nullptr;
  if (is_over && tell_over != nullptr) tell_over(steps);
  if (is_over && (code == MPI_SUCCESS || is_whole)) p.all.erase(steps);
  return code;
}

}  // namespace

void* step_under_way() { return current; }

void tell_when_over(void (*over)(void* steps)) { tell_over = over; }

int start_duplicate(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  is_starting = true;
  const int code = PMPI_Comm_idup(comm, made, request);
  is_starting = false;
  return code;
}

Step next_step(void* steps, Step step, const MPI_Request requests[], int count) {
  Parts& p = parts();
  if (step == nullptr) return step;
  const runtime::MutexLock guard(p.mutex);
  Part& part = p.all[steps];
  if (is_starting) part.is_whole = true;
  is_starting = false;
  part.next = step;
  part.awaited.assign(requests, requests + count);
  return run_step;
}

}  // namespace resprout::shim
