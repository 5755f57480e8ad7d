#include "mpi/handles/openmpi/creation_communicator.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <unordered_map>
#include <utility>
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

struct GoingOn {
  const void* by;
  MPI_Comm parent;
  MPI_Comm half;  // in which more is said; null: nowhere, or it is revoked
};

// Never destroyed: the library makes progress to the end of the process.
struct CreationCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  std::atomic<int> creations{0};  // that go on
  std::atomic<bool> is_revoked{false};
  runtime::Mutex mutex;
  std::vector<GoingOn> going_on RESPROUT_GUARDED_BY(mutex);
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
  const auto is_over = [](const GoingOn& one) { return is_revoked(one.parent); };
  return is_anybody_lost() ||
         (is_any_revoked() && std::ranges::any_of(creation_communicator().going_on, is_over));
}

// That are to be revoked.
std::vector<MPI_Comm> take_halves() RESPROUT_REQUIRES(creation_communicator().mutex) {
  std::vector<MPI_Comm> halves;
  for (GoingOn& one : creation_communicator().going_on)
    if (one.half != MPI_COMM_NULL) halves.push_back(std::exchange(one.half, MPI_COMM_NULL));
  return halves;
}

void end_waits(std::span<const MPI_Request> requests, std::span<const MPI_Comm> halves) {
  static const auto end_if_failed =
      reinterpret_cast<EndIfFailed>(dlsym(RTLD_DEFAULT, "ompi_request_is_failed_fn"));
  if (!creation_communicator().is_revoked.exchange(true))
    revoke_locally(creation_communicator().comm);
  for (const MPI_Comm half : halves) revoke_locally(half);
  for (const MPI_Request request : requests)
    if (end_if_failed != nullptr) end_if_failed(request);
}

// In the library's progress. What a step has posted may be new in each round.
int look_at_creations() {
  if (creation_communicator().creations.load() == 0 || !(is_anybody_lost() || is_any_revoked()))
    return 0;
  std::vector<MPI_Request> all;
  std::vector<MPI_Comm> halves;
  {
    const runtime::MutexLock guard(creation_communicator().mutex);
    if (!have_to_end()) return 0;
    halves = take_halves();
    for (const auto& [steps, requests] : creation_communicator().waits)
      all.insert(all.end(), requests.begin(), requests.end());
  }
  end_waits(all, halves);
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
  explicit Creation(MPI_Comm parent, MPI_Comm half = MPI_COMM_NULL) {
    const runtime::MutexLock guard(creation_communicator().mutex);
    creation_communicator().going_on.push_back({this, parent, half});
    creation_communicator().creations.fetch_add(1);
    is_creating = true;
  }
  ~Creation() {
    is_creating = false;
    const runtime::MutexLock guard(creation_communicator().mutex);
    std::erase_if(creation_communicator().going_on,
                  [this](const GoingOn& one) { return one.by == this; });
    if (creation_communicator().creations.fetch_sub(1) == 1) creation_communicator().waits.clear();
  }
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;
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

namespace {

int tag_of(std::uint64_t name) {
  constexpr int bits_of_tag = 30;
  return static_cast<int>(name >> (64 - bits_of_tag));
}

// What the library has said of the making that ends here. What the call returns.
int end_creation(MPI_Comm parent, int code, MPI_Comm made) {
  if (code == MPI_SUCCESS) copy_error_handler(parent, made);
  const bool is_broken = is_anybody_lost() || is_revoked(parent);
  if (code != MPI_SUCCESS || is_broken) end_turn();
  return is_broken ? proc_failed() : code;
}

}  // namespace

int create_in_creation_communicator(MPI_Comm parent, MPI_Group group, std::uint64_t name,
                                    MPI_Comm* made) {
  int code = MPI_SUCCESS;
  {
    const Creation creation(parent);
    code = PMPI_Comm_create_group(creation_communicator().comm, group, tag_of(name), made);
  }
  return end_creation(parent, code, *made);
}

int join_in_creation_communicator(MPI_Comm parent, MPI_Comm half, int other_leader,
                                  std::uint64_t name, MPI_Comm* made) {
  int code = MPI_SUCCESS;
  {
    const Creation creation(parent, half);
    code = PMPI_Intercomm_create(half, 0, creation_communicator().comm, other_leader, tag_of(name),
                                 made);
  }
  code = end_creation(parent, code, *made);
  if (code == MPI_SUCCESS) PMPI_Comm_free(&half);
  return code;
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
      end_waits(waited, {});
      return proc_failed();
    }
  }
  return append(steps, next_step(steps, step, requests, count), requests, count);
}
