#include "mpi/operations/fortran/late.hpp"

#ifdef OPEN_MPI

#  include <atomic>
#  include <map>
#  include <memory>
#  include <utility>

#  include "runtime/mutex.hpp"

namespace resprout::shim::fortran {
namespace {

// Never destroyed, as requests may be waited for at exit.
struct Table {
  runtime::Mutex mutex;
  std::map<MPI_Fint, std::unique_ptr<LateCommunicator>> by_request RESPROUT_GUARDED_BY(mutex);
  std::atomic<bool> was_used = false;
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

}  // namespace

void note_late_communicator(MPI_Fint request, std::unique_ptr<LateCommunicator> late) {
  const runtime::MutexLock lock(table().mutex);
  table().by_request[request] = std::move(late);
  table().was_used = true;
}

void give_late_communicator(MPI_Fint request) {
  if (!table().was_used) return;
  const runtime::MutexLock lock(table().mutex);
  const auto it = table().by_request.find(request);
  if (it == table().by_request.end()) return;
  *it->second->fortran = PMPI_Comm_c2f(it->second->made);
  table().by_request.erase(it);
}

}  // namespace resprout::shim::fortran

#endif
