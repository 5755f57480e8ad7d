#include "shim/replication/lone_calls.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "shim/communicator.hpp"
#include "shim/one_sided/windows.hpp"
#include "shim/remade/remade.hpp"
#include "shim/replication/masking.hpp"
#include "shim/world.hpp"

namespace resprout::shim {
namespace {

struct LoneCalls {
  std::atomic<int> count{0};
  std::mutex mutex;
  std::vector<const LoneCall*> all;
  std::unordered_map<MPI_Request, std::unique_ptr<LoneCall>> started;
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
  if (masking.load(std::memory_order_acquire) == nullptr || comm == MPI_COMM_NULL) return;
  begin(world_ranks_in(comm));
}

LoneCall::LoneCall(MPI_Win window, const char* name) : name_(name) {
  if (masking.load(std::memory_order_acquire) == nullptr || window == MPI_WIN_NULL) [[likely]]
    return;
  begin(members_of(window));
}

void LoneCall::begin(std::vector<int> world_ranks) {
  if (world_ranks.empty()) return;
  world_ranks_ = std::move(world_ranks);
  const std::lock_guard guard(lone_calls().mutex);
  lone_calls().all.push_back(this);
  lone_calls().count.fetch_add(1, std::memory_order_relaxed);
}

LoneCall::~LoneCall() {
  if (world_ranks_.empty()) return;
  const std::lock_guard guard(lone_calls().mutex);
  std::erase(lone_calls().all, this);
  lone_calls().count.fetch_sub(1, std::memory_order_relaxed);
}

void LoneCall::end_if_lost() const {
  const World* world = World::current();
  if (world == nullptr || world->lost_count() == 0) return;
  if (std::ranges::any_of(world_ranks_, [&](int rank) { return world->is_lost(rank); })) end();
}

void LoneCall::end() const {
  end_if_masking(mpi_name_of(name_), "meets a loss for which others cannot stand in");
}

LoneStart::LoneStart(MPI_Win window, const char* name) {
  if (masking.load(std::memory_order_acquire) != nullptr)
    call_ = std::make_unique<LoneCall>(window, name);
}

int LoneStart::go_on_as(int code, const MPI_Request* request) {
  if (code != MPI_SUCCESS || call_ == nullptr) return code;
  std::unique_ptr<LoneCall> before;  // of a request that is over, as another one has its handle
  const std::lock_guard guard(lone_calls().mutex);
  before = std::exchange(lone_calls().started[*request], std::move(call_));
  return code;
}

void forget_lone_start(MPI_Request request) {
  if (lone_calls().count.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  std::unique_ptr<LoneCall> over;
  const std::lock_guard guard(lone_calls().mutex);
  if (auto found = lone_calls().started.extract(request); !found.empty())
    over = std::move(found.mapped());
}

void end_lone_start(MPI_Request request) {
  if (lone_calls().count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard guard(lone_calls().mutex);
  const auto found = lone_calls().started.find(request);
  if (found != lone_calls().started.end()) found->second->end();
}

void end_lone_calls_if_lost() {
  if (lone_calls().count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard guard(lone_calls().mutex);
  for (const LoneCall* call : lone_calls().all) call->end_if_lost();
}

}  // namespace resprout::shim
