#include "mpi/policies/replicas/lone_calls.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/windows/windows.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/world.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct LoneCalls {
  std::atomic<int> count{0};
  runtime::Mutex mutex;
  std::vector<const LoneCall*> all RESPROUT_GUARDED_BY(mutex);
  RequestTable<LoneCall> started RESPROUT_GUARDED_BY(mutex);
};

LoneCalls& lone_calls() {
  static auto* instance = new LoneCalls;
  return *instance;
}

// Of both groups. Processes that are not of this world are nobody's to lose.
std::vector<int> world_ranks_in(MPI_Comm comm) {
  std::vector<int> ranks = communicator_of(comm)->world_ranks;
  MPI_Group group = MPI_GROUP_NULL;
  if (group_of(comm, &group) == MPI_SUCCESS) {
    const std::vector<int> own = world_ranks_of(group);
    ranks.insert(ranks.end(), own.begin(), own.end());
    PMPI_Group_free(&group);
  }
  std::erase(ranks, MPI_UNDEFINED);
  return ranks;
}

}  // namespace

LoneCall::LoneCall(MPI_Comm comm, const char* name) : name_(name) {
  if (replica_substitution.load(std::memory_order_acquire) == nullptr || comm == MPI_COMM_NULL)
    return;
  begin(world_ranks_in(comm));
}

LoneCall::LoneCall(MPI_Win window, const char* name) : name_(name) {
  if (replica_substitution.load(std::memory_order_acquire) == nullptr || window == MPI_WIN_NULL)
      [[likely]]
    return;
  begin(members_of(window));
}

void LoneCall::begin(std::vector<int> world_ranks) {
  if (world_ranks.empty()) return;
  world_ranks_ = std::move(world_ranks);
  const runtime::MutexLock guard(lone_calls().mutex);
  lone_calls().all.push_back(this);
  lone_calls().count.fetch_add(1, std::memory_order_relaxed);
}

LoneCall::~LoneCall() {
  if (world_ranks_.empty()) return;
  const runtime::MutexLock guard(lone_calls().mutex);
  std::erase(lone_calls().all, this);
  lone_calls().count.fetch_sub(1, std::memory_order_relaxed);
}

void LoneCall::end_if_lost() const {
  const World* world = World::current();
  if (world == nullptr || world->lost_count() == 0) return;
  if (std::ranges::any_of(world_ranks_, [&](int rank) { return world->is_lost(rank); })) end();
}

void LoneCall::end() const {
  call_policy().on_failure(mpi_name_of(name_), "meets a loss for which others cannot stand in");
}

LoneStart::LoneStart(MPI_Win window, const char* name) {
  if (replica_substitution.load(std::memory_order_acquire) != nullptr)
    call_ = std::make_shared<LoneCall>(window, name);
}

// Those that are over go without the mutex, which they take.
int LoneStart::go_on_as(int code, const MPI_Request* request) {
  if (code != MPI_SUCCESS || call_ == nullptr) return code;
  std::shared_ptr<LoneCall> before;
  const runtime::MutexLock guard(lone_calls().mutex);
  before = lone_calls().started.put(*request, std::exchange(call_, nullptr));
  return code;
}

RequestClaim<LoneCall> claim_lone_start(MPI_Request request) {
  if (lone_calls().count.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  const runtime::MutexLock guard(lone_calls().mutex);
  return lone_calls().started.claim(request);
}

void settle_lone_start(RequestClaim<LoneCall>& claim, MPI_Request after) {
  if (!claim) return;
  {
    const runtime::MutexLock guard(lone_calls().mutex);
    lone_calls().started.settle(claim, after);
  }
  claim.entry.reset();
}

void forget_lone_start(MPI_Request request) {
  if (lone_calls().count.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  std::shared_ptr<LoneCall> over;
  const runtime::MutexLock guard(lone_calls().mutex);
  over = lone_calls().started.extract(request);
}

void end_lone_calls_if_lost() {
  if (lone_calls().count.load(std::memory_order_relaxed) == 0) return;
  const runtime::MutexLock guard(lone_calls().mutex);
  for (const LoneCall* call : lone_calls().all) call->end_if_lost();
}

}  // namespace resprout::shim
