#include "mpi/handles/communicators/revocations.hpp"

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "mpi/handles/communicators/unwanted.hpp"
#include "mpi/handles/errors/cut_off.hpp"
#include "mpi/process/meanwhile.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/local_failure.hpp"
#include "openmpi/local_revocation.hpp"
#include "openmpi/progress_hook.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"
#include "runtime/mutex.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::shim {
namespace detail {
std::atomic<int> revoked_count{0};
std::atomic<bool> has_untold{false};
}  // namespace detail

namespace {

// How long the library has to hear of a death by itself.
constexpr std::int64_t patience_ns = 300'000'000;

struct UntoldFailure {
  int world_rank;
  std::int64_t due_ns;
};

// Never destroyed: the lifeline's thread may still find a notice.
struct Table {
  runtime::Mutex mutex;
  std::unordered_map<std::uint64_t, MPI_Comm> comms RESPROUT_GUARDED_BY(mutex);  // by session
  // Revoked, but MPI has not been told.
  std::vector<std::uint64_t> untold RESPROUT_GUARDED_BY(mutex);
  std::vector<UntoldFailure> untold_failures RESPROUT_GUARDED_BY(mutex);  // likewise
  bool is_alone RESPROUT_GUARDED_BY(mutex) = false;       // MPI has been told of all others
  std::set<int> told_at_once RESPROUT_GUARDED_BY(mutex);  // world ranks
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

// Under the engine's lock, on any thread.
void note_revocation(const runtime::Session& session) {
  const runtime::MutexLock guard(table().mutex);
  detail::revoked_count.fetch_add(1, std::memory_order_release);
  table().untold.push_back(session.id());
  detail::has_untold.store(true, std::memory_order_release);
}

// `waits_first`: where a thread waits in a collective of the library's, it is let go, and the rest
// is left to the next look or call.
enum class Wanted { all, waits_first };
void pass_on(Wanted wanted);

void tell(int failed_world_rank) {
  if (can_fail_locally()) fail_locally(failed_world_rank);
}

// Those that are due; others are left. All others have failed for who is cut off, and that is said
// before its communicators are revoked: a send that needs its receiver would wait for the
// acknowledgment of its end.
std::vector<int> failures_to_tell(Table& t) RESPROUT_REQUIRES(t.mutex) {
  std::vector<int> failures;
  if (!t.untold_failures.empty())
    std::erase_if(t.untold_failures, [&, now_ns = runtime::monotonic_ns()](const auto& untold) {
      if (untold.due_ns > now_ns) return false;
      failures.push_back(untold.world_rank);
      return true;
    });
  if (!is_cut_off() || std::exchange(t.is_alone, true)) return failures;
  const World& world = *World::current();
  for (int rank = 0; rank < world.size(); ++rank)
    if (rank != world.rank()) failures.push_back(rank);
  return failures;
}

std::atomic<runtime::Engine*> looked_after{nullptr};  // by threads that are blocked in MPI
std::atomic<bool> is_told_at_once{false};

void tell_at_once(const runtime::Engine& engine) {
  std::vector<int> news;
  {
    const runtime::MutexLock guard(table().mutex);
    if (static_cast<int>(table().told_at_once.size()) == engine.losses().count()) return;
    for (int rank = 0; rank < World::current()->size(); ++rank)
      if (engine.losses().is_lost(rank) && table().told_at_once.insert(rank).second)
        news.push_back(rank);
  }
  for (const int rank : news) tell(rank);
}

int look() {
  if (runtime::Engine* engine = looked_after.load(std::memory_order_relaxed)) {
    if (engine->has_new_death_mark()) engine->report_marked_deaths();
    if (is_told_at_once.load(std::memory_order_relaxed)) [[unlikely]]
      tell_at_once(*engine);
    if (engine->notices().has_unread() || engine->notices().is_rung()) engine->answer();
  }
  if (detail::has_untold.load(std::memory_order_relaxed)) [[unlikely]]
    pass_on(Wanted::waits_first);
  take_unwanted();
  return 0;
}

}  // namespace

bool do_members_look(const Communicator& communicator) {
  return looked_after.load(std::memory_order_relaxed) != nullptr &&
         communicator.session->is_on_one_host();
}

namespace {

struct Untold {
  std::uint64_t session;
  MPI_Comm comm;  // null: of no communicator of the program
};

// REQUIRES: there is one.
Untold take_untold(Table& t) RESPROUT_REQUIRES(t.mutex) {
  const std::uint64_t session = t.untold.front();
  t.untold.erase(t.untold.begin());
  const auto it = t.comms.find(session);
  return {session, it == t.comms.end() ? MPI_COMM_NULL : it->second};
}

// False: MPI has been told of what carries its collectives only.
bool tell_of(MPI_Comm comm, Wanted wanted) {
  // Nothing of a derived one waits inside MPI.
  if (is_derived(comm) || !ulfm::is_active()) {
    throw_away(address_of(comm, 0).comm);
    return true;
  }
  const Communicator& communicator = *communicator_of(comm);
  const bool is_here_only = do_members_look(communicator);
  const auto revoke_it = is_here_only ? revoke_locally : revoke_in_mpi;
  const bool has_let_go =
      communicator.native != MPI_COMM_NULL && revoke_native(communicator.native, revoke_it);
  if (has_let_go && is_here_only && wanted == Wanted::waits_first) return false;
  if (communicator.neighbors != MPI_COMM_NULL) revoke_it(communicator.neighbors);
  revoke_it(comm);
  return true;
}

// Revoking makes progress in MPI, and so may come back here: nothing is held meanwhile.
void pass_on(Wanted wanted) {
  Table& t = table();
  runtime::MutexLock lock(t.mutex);
  const std::vector<int> failures = failures_to_tell(t);
  if (!failures.empty()) {
    lock.unlock();
    for (const int world_rank : failures) tell(world_rank);
    lock.lock();
  }
  for (std::size_t left = t.untold.size(); left > 0 && !t.untold.empty(); --left) {
    const Untold untold = take_untold(t);
    lock.unlock();
    const bool is_told = untold.comm == MPI_COMM_NULL || tell_of(untold.comm, wanted);
    lock.lock();
    if (!is_told) t.untold.push_back(untold.session);
  }
  detail::has_untold.store(!t.untold.empty() || !t.untold_failures.empty(),
                           std::memory_order_release);
}

}  // namespace

void open_revocations(runtime::Engine& engine) {
  do_meanwhile(take_unwanted);
  engine.tell_of_revocations(note_revocation);
  if (ulfm::is_active() && add_progress_hook(look, Rounds::all)) looked_after = &engine;
}

void close_revocations() {
  if (ulfm::is_active()) remove_progress_hook(look);
  looked_after = nullptr;
  std::vector<UntoldFailure> failures;
  {
    const runtime::MutexLock guard(table().mutex);
    table().comms.clear();
    table().untold.clear();
    failures.swap(table().untold_failures);
  }
  // The library's own end would wait for them.
  for (const UntoldFailure& failure : failures) tell(failure.world_rank);
}

void note_session(MPI_Comm comm, const runtime::Session& session) {
  const runtime::MutexLock guard(table().mutex);
  table().comms[session.id()] = comm;
  if (!session.is_revoked()) return;  // before it was opened here
  table().untold.push_back(session.id());
  detail::has_untold.store(true, std::memory_order_release);
}

void forget_session(const runtime::Session& session) {
  const runtime::MutexLock guard(table().mutex);
  table().comms.erase(session.id());
}

void look_for_revocations() {
  runtime::Engine& engine = World::current()->engine();
  if (engine.notices().has_unread()) {
    runtime::Lock lock = engine.lock();
    engine.drive(lock);
  }
  pass_on_revocations();
}

void report_failure_to_mpi(int world_rank, bool is_dead) {
  if (!ulfm::is_active()) return;
  const runtime::MutexLock guard(table().mutex);
  const std::int64_t due_ns = is_dead ? runtime::monotonic_ns() + patience_ns : 0;
  table().untold_failures.push_back({world_rank, due_ns});
  detail::has_untold.store(true, std::memory_order_release);
}

void detail::pass_on_revocations() { pass_on(Wanted::all); }

bool detail::is_revoked(MPI_Comm comm) {
  const Communicator* communicator = communicator_of(comm);
  return communicator->is_revoked ||
         (communicator->session != nullptr && communicator->session->is_revoked());
}

void note_revoked_alone(Communicator& communicator) {
  communicator.is_revoked = true;
  detail::revoked_count.fetch_add(1, std::memory_order_release);
}

}  // namespace resprout::shim

// For measurements: what the MPI library's own way costs if it knows of a death as soon as this
// does (`resprout bench recovery`). Not for programs: what the dead have said may be lost.
extern "C" void resprout_tell_mpi_at_once() { resprout::shim::is_told_at_once = true; }
