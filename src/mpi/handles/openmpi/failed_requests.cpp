#include "mpi/handles/openmpi/failed_requests.hpp"

#include <dlfcn.h>

#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/errors/cut_off.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

extern "C" bool ompi_request_is_failed_fn(MPI_Request request);

namespace resprout::shim {
namespace {

using IsFailed = bool (*)(MPI_Request request);

RESPROUT_FAST_THREAD_LOCAL MPI_Comm sends_on = nullptr;  // null: in no blocking send
RESPROUT_FAST_THREAD_LOCAL int sends_to = MPI_PROC_NULL;

// Its receiver lives, and may be reading.
bool may_be_read(MPI_Comm comm, int dest) {
  return is_revoked(comm) && !is_cut_off() && !is_lost(comm, dest);
}

bool may_be_read(MPI_Request request) {
  if (const auto record = recall(request))
    return record->kind == RequestRecord::Kind::send && may_be_read(record->comm, record->peer);
  return sends_on != nullptr && may_be_read(sends_on, sends_to);
}

}  // namespace

BlockingSend::BlockingSend(MPI_Comm comm, int dest) {
  sends_on = comm;
  sends_to = dest;
}

BlockingSend::~BlockingSend() { sends_on = nullptr; }

bool is_failed_in_mpi(MPI_Request request) {
  return ulfm::is_active() && ompi_request_is_failed_fn(request);
}

}  // namespace resprout::shim

// What the library asks of every request that somebody waits for.
extern "C" bool ompi_request_is_failed_fn(MPI_Request request) {
  using namespace resprout::shim;
  static const auto is_failed =
      reinterpret_cast<IsFailed>(dlsym(RTLD_NEXT, "ompi_request_is_failed_fn"));
  if (is_any_revoked() && World::current() != nullptr && may_be_read(request)) return false;
  return is_failed(request);
}
