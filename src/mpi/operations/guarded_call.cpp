#include "mpi/operations/guarded_call.hpp"

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/failures.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

// This process has sent itself a message that waits to be received. MPI answers this question also
// while it refuses wildcards.
bool has_own_message(MPI_Comm comm, int self, int tag) {
  int flag = 0;
  const Address from = address_of(comm, self);
  return PMPI_Iprobe(from.peer, tag, from.comm, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
         flag != 0;
}

}  // namespace

bool goes_on(MPI_Comm comm, int& source, int tag, int code) {
  if (source != MPI_ANY_SOURCE || !is_loss(code) || is_revoked(code)) return false;
  if (call_policy().stands_in()) return false;
  const bool is_told = World::current()->options().on_loss == OnLoss::error;
  if (is_told && !is_all_acknowledged(comm)) return false;
  if (!is_hopeless(comm, source)) {
    acknowledge_to_mpi(comm);
    return true;
  }
  // Not acknowledged: MPI has to go on refusing what nobody will answer.
  const Communicator& communicator = *communicator_of(comm);
  if (communicator.is_inter || !has_own_message(comm, communicator.rank, tag)) return false;
  source = communicator.rank;
  return true;
}

GuardedCall::GuardedCall(const char* name)
    : GuardedCall({.name = name}, World::current() != nullptr) {}

GuardedCall::GuardedCall(const char* name, MPI_Comm comm)
    : GuardedCall({.name = name, .comm = comm},
                  World::current() != nullptr && comm != MPI_COMM_NULL) {}

GuardedCall::GuardedCall(const CurrentCall& call, bool is_ours)
    : name_(call.name), comm_(call.comm), is_ours_(is_ours), inside_(call) {
  if (!is_ours_) return;
  pass_on_revocations();
  entering(name_);
  World::current()->report().count_call(name_);
}

MPI_Comm GuardedCall::communicator_in_error() const {
  const MPI_Comm found = quiet_.communicator_in_error();
  return found != MPI_COMM_NULL ? found : comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_WORLD;
}

int GuardedCall::finish(int code, Lacks lacks) {
  // Other errors have been with the program's handler already, unless the carrier has none.
  if (!is_loss(code)) {
    const bool was_told = ulfm::returns_what_handlers_heard || !is_derived(comm_);
    return was_told ? code : shim::finish(comm_, name_, code, lacks);
  }
  if (is_ours_) note_code(comm_, peer_, code);
  return shim::finish(comm_ != MPI_COMM_NULL ? comm_ : communicator_in_error(), name_, code, lacks);
}

}  // namespace resprout::shim
