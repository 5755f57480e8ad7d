#include "mpi/handles/communicators/communicator.hpp"

#include <atomic>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "mpi/process/fast_thread_local.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

std::atomic<int> keyval{MPI_KEYVAL_INVALID};
// Raised when any communicator ends, so that no thread trusts a handle that MPI may reuse.
std::atomic<unsigned> generation{0};

// What several threads may be about to find out at once, and what is known of a communicator before
// anybody asks.
struct Discoveries {
  runtime::Mutex mutex;
  std::unordered_map<MPI_Comm, Communicator*> discovered RESPROUT_GUARDED_BY(mutex);
  // Of those that are not discovered.
  std::unordered_map<MPI_Comm, std::uint64_t> session_names RESPROUT_GUARDED_BY(mutex);
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
    const runtime::MutexLock guard(discoveries().mutex);
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
    const runtime::MutexLock guard(discoveries().mutex);
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

void name_session(MPI_Comm comm, std::uint64_t name) {
  const runtime::MutexLock guard(discoveries().mutex);
  discoveries().session_names[comm] = name;
}

void forget_communicators() {
  int key = keyval.exchange(MPI_KEYVAL_INVALID);
  if (key == MPI_KEYVAL_INVALID) return;
  PMPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  generation.fetch_add(1, std::memory_order_relaxed);
  PMPI_Comm_free_keyval(&key);
}

}  // namespace resprout::shim
