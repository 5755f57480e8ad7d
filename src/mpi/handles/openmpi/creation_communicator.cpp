#include "mpi/handles/openmpi/creation_communicator.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <unordered_map>
#include <vector>

#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/handles/openmpi/steps.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/local_revocation.hpp"
#include "openmpi/progress_hook.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// The library's own request for something that goes on in steps.
using Steps = void;
using Append = int (*)(Steps*, Step, MPI_Request*, int);
// Ends the request with an error if its peer is lost or its communicator revoked.
using EndIfFailed = bool (*)(MPI_Request);

// Never destroyed: the library makes progress to the end of the process.
struct CreationCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  std::atomic<int> creations{0};  // that go on
  std::atomic<bool> is_revoked{false};
  runtime::Mutex mutex;
  std::vector<MPI_Comm> parents RESPROUT_GUARDED_BY(mutex);  // of those that go on
  // What each waits for before its next step.
  std::unordered_map<Steps*, std::vector<MPI_Request>> waits RESPROUT_GUARDED_BY(mutex);
};

CreationCommunicator& creation_communicator() {
  static auto* instance = new CreationCommunicator;
  return *instance;
}

RESPROUT_FAST_THREAD_LOCAL bool is_creating = false;

bool is_anybody_lost() {
  const World* world = World::current();
  return world != nullptr && world->lost_count() != 0;
}

bool have_to_end() RESPROUT_REQUIRES(creation_communicator().mutex) {
  const auto& parents = creation_communicator().parents;
  const auto is_over = [](MPI_Comm parent) { return is_revoked(parent); };
  return is_anybody_lost() ||
         (is_any_revoked() && std::any_of(parents.begin(), parents.end(), is_over));
}

void end_waits(std::span<const MPI_Request> requests) {
  static const auto end_if_failed =
      reinterpret_cast<EndIfFailed>(dlsym(RTLD_DEFAULT, "ompi_request_is_failed_fn"));
  if (!creation_communicator().is_revoked.exchange(true))
    revoke_locally(creation_communicator().comm);
  for (const MPI_Request request : requests)
    if (end_if_failed != nullptr) end_if_failed(request);
}

// In the library's progress. What a step has posted may be new in each round.
int look_at_creations() {
  if (creation_communicator().creations.load() == 0 || !(is_anybody_lost() || is_any_revoked()))
    return 0;
  std::vector<MPI_Request> all;
  {
    const runtime::MutexLock guard(creation_communicator().mutex);
    if (!have_to_end()) return 0;
    for (const auto& [steps, requests] : creation_communicator().waits)
      all.insert(all.end(), requests.begin(), requests.end());
  }
  end_waits(all);
  return 0;
}

// Notes what it waits for. False: it is to end instead. The library looks whether that is so in
// every step but the first, and but where it waits for other steps: those end, and it with them.
bool may_wait(Steps* steps, std::span<const MPI_Request> requests) {
  const runtime::MutexLock guard(creation_communicator().mutex);
  const auto known = creation_communicator().waits.find(steps);
  void* const whole = step_under_way();  // whichever thread has it go on
  if (known == creation_communicator().waits.end() &&
      !(whole != nullptr ? creation_communicator().waits.contains(whole) : is_creating))
    return true;
  const bool is_for_steps =
      std::any_of(requests.begin(), requests.end(),
                  [&](MPI_Request it) RESPROUT_REQUIRES(creation_communicator().mutex) {
                    return creation_communicator().waits.contains(static_cast<Steps*>(it));
                  });
  if (known != creation_communicator().waits.end() && !is_for_steps && have_to_end()) return false;
  creation_communicator().waits[steps].assign(requests.begin(), requests.end());
  return true;
}

class Creation {
 public:
  explicit Creation(MPI_Comm parent) : parent_(parent) {
    const runtime::MutexLock guard(creation_communicator().mutex);
    creation_communicator().parents.push_back(parent);
    creation_communicator().creations.fetch_add(1);
    is_creating = true;
  }
  ~Creation() {
    is_creating = false;
    const runtime::MutexLock guard(creation_communicator().mutex);
    creation_communicator().parents.erase(std::find(
        creation_communicator().parents.begin(), creation_communicator().parents.end(), parent_));
    if (creation_communicator().creations.fetch_sub(1) == 1) creation_communicator().waits.clear();
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

 private:
  const MPI_Comm parent_;
};

// Something that the library does in steps is over.
void leave_creation(void* steps) {
  if (creation_communicator().creations.load() == 0) return;
  const runtime::MutexLock guard(creation_communicator().mutex);
  creation_communicator().waits.erase(steps);
}

}  // namespace

void open_creation_communicator() {
  if (!ulfm::is_active()) return;  // nobody survives a loss
  PMPI_Comm_dup(MPI_COMM_WORLD, &creation_communicator().comm);
  hand_on_errors(creation_communicator().comm);
  tell_when_over(leave_creation);
  add_progress_hook(look_at_creations, Rounds::some);
}

void close_creation_communicator() {
  if (creation_communicator().comm != MPI_COMM_NULL) remove_progress_hook(look_at_creations);
}

int create_in_creation_communicator(MPI_Comm parent, MPI_Group group, std::uint64_t name,
                                    MPI_Comm* made) {
  constexpr int bits_of_tag = 30;
  int code = MPI_SUCCESS;
  {
    const Creation creation(parent);
    const int tag = static_cast<int>(name >> (64 - bits_of_tag));
    code = PMPI_Comm_create_group(creation_communicator().comm, group, tag, made);
  }
  if (code == MPI_SUCCESS) copy_error_handler(parent, *made);
  const bool is_broken = is_anybody_lost() || is_revoked(parent);
  if (code != MPI_SUCCESS || is_broken) end_turn();
  return is_broken ? proc_failed() : code;
}

}  // namespace resprout::shim

// By which the library says, of something that it does in steps, that `step` is the next one, when
// these requests are complete.
extern "C" int ompi_comm_request_schedule_append(void* steps, int (*step)(void*),
                                                 MPI_Request requests[], int count) {
  using namespace resprout::shim;
  static const auto append =
      reinterpret_cast<Append>(dlsym(RTLD_NEXT, "ompi_comm_request_schedule_append"));
  if (creation_communicator().creations.load(std::memory_order_relaxed) != 0) {
    const std::span waited(requests, static_cast<std::size_t>(count));
    if (!may_wait(steps, waited)) {
      end_waits(waited);
      return proc_failed();
    }
  }
  return append(steps, next_step(steps, step, requests, count), requests, count);
}
