#include "mpi/handles/communicators/communicator.hpp"

#include <atomic>
#include <mutex>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "mpi/carriers/departures.hpp"
#include "mpi/carriers/lanes/lanes.hpp"
#include "mpi/carriers/natives.hpp"
#include "mpi/carriers/neighbor_messages.hpp"
#include "mpi/carriers/stand_ins.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/communicators/spares.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

// Tell the sessions for repairs, and of duplicates that are only started, apart from those of other
// communicators, which are counted.
constexpr std::uint64_t for_repair = ~std::uint64_t{0};
constexpr std::uint64_t for_started_duplicates = std::uint64_t{1} << 62;

std::atomic<int> keyval{MPI_KEYVAL_INVALID};
// Raised when any communicator ends, so that no thread trusts a handle that MPI may reuse.
std::atomic<unsigned> generation{0};

// What several threads may be about to find out at once, and what is known of a communicator before
// anybody asks.
struct Discoveries {
  std::mutex mutex;
  std::unordered_map<MPI_Comm, Communicator*> discovered;
  std::unordered_map<MPI_Comm, std::uint64_t> session_names;  // of those that are not
};

Discoveries& discoveries() {
  static auto* instance =
      new Discoveries;  // MPI may end communicators up to the end of the process
  return *instance;
}

// What this thread asked for last.
struct Last {
  MPI_Comm comm = MPI_COMM_NULL;
  unsigned generation = 0;
  Communicator* found = nullptr;
};
RESPROUT_FAST_THREAD_LOCAL Last last_asked;

int delete_attribute(MPI_Comm comm, int, void* value, void*) {
  generation.fetch_add(1, std::memory_order_relaxed);
  auto* communicator = static_cast<Communicator*>(value);
  {
    const std::lock_guard guard(discoveries().mutex);
    const auto it = discoveries().discovered.find(comm);
    if (it != discoveries().discovered.end() && it->second == communicator)
      discoveries().discovered.erase(it);
  }
  if (!communicator->is_departing) delete communicator;
  return MPI_SUCCESS;
}

int communicator_keyval() {
  int key = keyval.load();
  if (key != MPI_KEYVAL_INVALID) return key;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, nullptr);
  int expected = MPI_KEYVAL_INVALID;
  if (keyval.compare_exchange_strong(expected, key)) return key;
  PMPI_Comm_free_keyval(&key);
  return expected;
}

std::unique_ptr<Communicator> as_mpi_knows_it(MPI_Comm comm) {
  auto found = std::make_unique<Communicator>();
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  found->is_inter = is_inter != 0;
  PMPI_Comm_rank(comm, &found->rank);
  MPI_Group group = MPI_GROUP_NULL;
  if (found->is_inter) {
    PMPI_Comm_remote_group(comm, &group);
  } else {
    PMPI_Comm_group(comm, &group);
  }
  found->world_ranks = world_ranks_of(group);
  PMPI_Group_free(&group);
  found->is_native = found->is_inter || found->world_ranks.size() < 2;
  for (const int rank : found->world_ranks)
    if (rank == MPI_UNDEFINED) found->is_native = true;
  return found;
}

// MPI is not asked under the table's lock: it calls what the program has to say about attributes.
Communicator* discover(MPI_Comm comm) {
  std::unique_ptr<Communicator> found = as_mpi_knows_it(comm);
  {
    const std::lock_guard guard(discoveries().mutex);
    const auto [place, is_first] = discoveries().discovered.try_emplace(comm, found.get());
    if (!is_first) return place->second;
    if (const auto named = discoveries().session_names.extract(comm))
      found->session_name = named.mapped();
  }
  PMPI_Comm_set_attr(comm, communicator_keyval(), found.get());
  return found.release();
}

}  // namespace

std::vector<int> world_ranks_of(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> world_ranks(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
  PMPI_Group_free(&world);
  return world_ranks;
}

Communicator::Communicator() = default;
Communicator::~Communicator() = default;

void describe_communicator(MPI_Comm comm, std::unique_ptr<Communicator> communicator) {
  PMPI_Comm_set_attr(comm, communicator_keyval(), communicator.release());
  generation.fetch_add(1, std::memory_order_relaxed);
}

void undescribe_communicator(MPI_Comm comm) { PMPI_Comm_delete_attr(comm, communicator_keyval()); }

Communicator* communicator_of(MPI_Comm comm) {
  const unsigned now = generation.load(std::memory_order_relaxed);
  if (comm == last_asked.comm && now == last_asked.generation) return last_asked.found;
  void* value = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(comm, communicator_keyval(), &value, &is_set);
  last_asked = {comm, now, is_set != 0 ? static_cast<Communicator*>(value) : discover(comm)};
  return last_asked.found;
}

runtime::Session* session_of(MPI_Comm comm, runtime::Lock& lock) {
  Communicator* communicator = communicator_of(comm);
  if (communicator->is_native) return nullptr;
  if (communicator->session == nullptr) {
    runtime::Engine& engine = World::current()->engine();
    const auto& [name, world_ranks] =
        std::tie(communicator->session_name, communicator->world_ranks);
    communicator->session = name ? &engine.open_session(lock, *name, world_ranks)
                                 : &engine.open_session(lock, world_ranks);
    note_session(comm, *communicator->session);
  }
  return communicator->session;
}

runtime::Session* session_of(Communicator& communicator, MPI_Comm comm) {
  if (communicator.is_native) return nullptr;
  if (communicator.session != nullptr) [[likely]]
    return communicator.session;
  runtime::Lock lock = World::current()->engine().lock();
  return session_of(comm, lock);
}

runtime::Session* repair_session_of(MPI_Comm comm, runtime::Lock& lock) {
  runtime::Session* session = session_of(comm, lock);
  if (session == nullptr) return nullptr;
  Communicator* communicator = communicator_of(comm);
  if (communicator->repair == nullptr)
    communicator->repair = &World::current()->engine().open_session(
        lock, session->child(for_repair), communicator->world_ranks);
  return communicator->repair;
}

void open_communicator(MPI_Comm comm, std::uint64_t name, runtime::Lock& lock) {
  if (comm == MPI_COMM_NULL) return;
  Communicator* communicator = communicator_of(comm);
  if (communicator->is_native || communicator->session != nullptr) return;
  communicator->session =
      &World::current()->engine().open_session(lock, name, communicator->world_ranks);
  note_session(comm, *communicator->session);
}

void name_started_duplicate(MPI_Comm comm, MPI_Comm made) {
  runtime::Lock lock = World::current()->engine().lock();
  const runtime::Session* session = session_of(comm, lock);
  if (session == nullptr) return;
  const std::uint64_t number = ++communicator_of(comm)->duplicates_started;
  if (made == MPI_COMM_NULL) return;
  const std::lock_guard guard(discoveries().mutex);
  discoveries().session_names[made] = session->child(for_started_duplicates + number);
}

namespace {

// Nobody has to know whether all have come to the end of it.
bool may_depart(const Communicator& communicator) {
  return communicator.repair == nullptr && !communicator.session->is_revoked() &&
         (communicator.session->has_begun() || communicator.remade);
}

}  // namespace

Parting close_communicator(MPI_Comm comm, PartingWaits waits) {
  World* world = World::current();
  if (world == nullptr) return Parting::alone;
  Communicator* communicator = communicator_of(comm);
  if (communicator->session == nullptr) return Parting::alone;
  runtime::Engine& engine = world->engine();
  runtime::Lock lock = engine.lock();
  finish_departures(engine, lock);
  communicator->session->finish_tasks(lock);
  if (communicator->repair != nullptr) communicator->repair->finish_tasks(lock);
  leave_communicator(comm, lock);
  leave_lanes(*communicator);
  if (waits == PartingWaits::if_needed && may_depart(*communicator)) {
    const Parting parting = communicator->session->is_whole() ? Parting::alone : Parting::unclean;
    forget_session(*communicator->session);
    communicator->is_departing = true;
    communicator->is_lingering |= communicator->remade.has_value();
    depart(std::unique_ptr<Communicator>(communicator));
    return parting;
  }
  // Nothing was ever said in it: nobody has to hear that it ends. But what carries the messages of
  // a remade one goes to others.
  if (communicator->session->has_begun() || communicator->remade)
    communicator->session->barrier(lock);
  communicator->is_revoked = communicator->session->is_revoked();
  bool is_clean = !communicator->is_revoked;
  if (is_clean && !communicator->session->is_whole()) {
    lock.unlock();
    is_clean = communicator->remade && drain(communicator->remade->spare, *communicator->session);
    lock.lock();
  }
  if (communicator->repair != nullptr) engine.close_session(lock, *communicator->repair);
  forget_session(*communicator->session);
  if (communicator->native != MPI_COMM_NULL) leave_native(communicator->native, is_clean);
  leave_neighbors(*communicator, is_clean);
  engine.close_session(lock, *communicator->session);
  communicator->session = nullptr;
  communicator->repair = nullptr;
  return is_clean ? Parting::clean : Parting::unclean;
}

void forget_communicators() {
  int key = keyval.exchange(MPI_KEYVAL_INVALID);
  if (key == MPI_KEYVAL_INVALID) return;
  PMPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  generation.fetch_add(1, std::memory_order_relaxed);
  PMPI_Comm_free_keyval(&key);
}

}  // namespace resprout::shim
