#include "mpi/handles/operators/bearers.hpp"

#include <unordered_map>

#include "mpi/process/world.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

template <typename Handle>
struct Table {
  runtime::Mutex mutex;
  std::unordered_map<Handle, Bearer> freed RESPROUT_GUARDED_BY(mutex);  // how often
};

// Never destroyed: the program's exit handlers may still free what they have.
template <typename Handle>
Table<Handle>& table() {
  static auto* instance = new Table<Handle>;
  return *instance;
}

template <typename Handle>
Bearer find(Handle handle) {
  const runtime::MutexLock guard(table<Handle>().mutex);
  const auto found = table<Handle>().freed.find(handle);
  return found == table<Handle>().freed.end() ? 0 : found->second;
}

// Only where contributions are remembered does anybody ask.
template <typename Handle>
void note(Handle handle) {
  const World* world = World::current();
  if (world == nullptr || !world->options().missing.is_remembered()) return;
  const runtime::MutexLock guard(table<Handle>().mutex);
  ++table<Handle>().freed[handle];
}

}  // namespace

Bearer bearer_of(MPI_Datatype datatype) { return find(datatype); }
Bearer bearer_of(MPI_Op op) { return find(op); }
void note_freed(MPI_Datatype datatype) { note(datatype); }
void note_freed(MPI_Op op) { note(op); }

}  // namespace resprout::shim
