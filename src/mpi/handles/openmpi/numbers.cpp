// Where a loss meets the making of several communicators at once, Open MPI 5.0 gives back a
// number whether it could take it or not, and so that of another one, which then gets no messages
// any more. So nobody gives back, in a step of a making, what it has not taken.
//
// Thread rule: from any thread.
#include "mpi/handles/openmpi/numbers.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <optional>
#include <unordered_map>
#include <utility>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/openmpi/steps.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/world.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

using PointerArray = void;  // opal_pointer_array_t
using TestAndSet = bool (*)(PointerArray*, int number, void* value);
using Set = int (*)(PointerArray*, int number, void* value);

// Programs have fewer communicators; the library's table has room for more.
constexpr int far_number = 1 << 14;
RESPROUT_FAST_THREAD_LOCAL bool wants_far_number = false;

// Never destroyed: the library makes progress to the end of the process.
struct Numbers {
  runtime::Mutex mutex;
  // By whose steps; null: a communicator has it.
  std::unordered_map<int, void*> taken RESPROUT_GUARDED_BY(mutex);
};

Numbers& numbers() {
  static auto* instance = new Numbers;
  return *instance;
}

bool is_of_communicators(PointerArray* table) {
  static PointerArray* const communicators = dlsym(RTLD_DEFAULT, "ompi_mpi_communicators");
  return table == communicators;
}

// False: it is not to be set.
bool note_set(int number, const void* value) {
  Numbers& n = numbers();
  void* const steps = step_under_way();
  const runtime::MutexLock guard(n.mutex);
  const auto found = n.taken.find(number);
  if (found == n.taken.end()) return true;
  if (value != nullptr) {
    found->second = nullptr;
    return true;
  }
  if (steps != nullptr && found->second != steps) return false;
  n.taken.erase(found);
  return true;
}

bool is_of_this_process_alone(MPI_Comm comm) {
  int size = 0;
  return comm != nullptr && PMPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 1;
}

}  // namespace

FarNumbers::FarNumbers() : were_wanted_(std::exchange(wants_far_number, true)) {}
FarNumbers::~FarNumbers() { wants_far_number = were_wanted_; }

}  // namespace resprout::shim

// By which the library numbers what it makes of `parent`.
extern "C" int ompi_comm_nextcid(MPI_Comm made, MPI_Comm parent, MPI_Comm bridge, const void* first,
                                 const void* second, bool sends_first, int mode) {
  using namespace resprout::shim;
  using Number = int (*)(MPI_Comm, MPI_Comm, MPI_Comm, const void*, const void*, bool, int);
  static const auto number = reinterpret_cast<Number>(dlsym(RTLD_NEXT, "ompi_comm_nextcid"));
  std::optional<FarNumbers> far_numbers;
  if (World::current() != nullptr && !may_mpi_make_any() && is_of_this_process_alone(parent))
    far_numbers.emplace();
  return number(made, parent, bridge, first, second, sends_first, mode);
}

extern "C" bool opal_pointer_array_test_and_set_item(void* table, int number, void* value) {
  using namespace resprout::shim;
  static const auto test_and_set =
      reinterpret_cast<TestAndSet>(dlsym(RTLD_NEXT, "opal_pointer_array_test_and_set_item"));
  if (wants_far_number && number < far_number && is_of_communicators(table)) return false;
  void* const steps = step_under_way();
  if (steps == nullptr || !is_of_communicators(table)) return test_and_set(table, number, value);
  const resprout::runtime::MutexLock guard(numbers().mutex);
  const bool is_taken = test_and_set(table, number, value);
  if (is_taken && value != nullptr) numbers().taken[number] = steps;
  return is_taken;
}

extern "C" int opal_pointer_array_set_item(void* table, int number, void* value) {
  using namespace resprout::shim;
  static const auto set = reinterpret_cast<Set>(dlsym(RTLD_NEXT, "opal_pointer_array_set_item"));
  if (is_of_communicators(table) && !note_set(number, value)) return 0;
  return set(table, number, value);
}
