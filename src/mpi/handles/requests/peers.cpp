#include "mpi/handles/requests/peers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/failures.hpp"
#include "mpi/handles/communicators/remade.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/datatypes/type_size.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/masking.hpp"
#include "mpi/process/report/report.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

// Who is lost, as MPI says, by world rank. Never destroyed, made when there is somebody.
struct Refused {
  explicit Refused(int size) : by_world_rank(static_cast<std::size_t>(size)) {}
  std::vector<std::atomic<bool>> by_world_rank;
};
std::atomic<Refused*> refused{nullptr};

Refused& refused_by_mpi() {
  Refused* found = refused.load();
  if (found != nullptr) return *found;
  auto* made = new Refused(World::current()->size());
  if (refused.compare_exchange_strong(found, made)) return *made;
  delete made;
  return *found;
}

bool is_everybody_else_lost(MPI_Comm comm) {
  const Communicator& communicator = *communicator_of(comm);
  const int size = static_cast<int>(communicator.world_ranks.size());
  int lost = 0;
  for (int rank = 0; rank < size; ++rank) lost += is_lost(comm, rank) ? 1 : 0;
  if (communicator.is_inter) return lost == size;
  // MPI may have learned it first, and will not tell again what was acknowledged once.
  return std::max(lost, static_cast<int>(failed_by_mpi(comm).size())) >= size - 1;
}

// This process has sent itself a message that waits to be received. MPI answers this question also
// while it refuses wildcards.
bool has_own_message(MPI_Comm comm, int self, int tag) {
  int flag = 0;
  const Address from = address_of(comm, self);
  return PMPI_Iprobe(from.peer, tag, from.comm, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
         flag != 0;
}

}  // namespace

bool has_anything_happened() { return World::current()->lost_count() != 0 || is_any_revoked(); }

bool is_lost(MPI_Comm comm, int rank) {
  World* world = World::current();
  Refused* by_mpi = refused.load(std::memory_order_acquire);
  if ((world->lost_count() == 0 && by_mpi == nullptr) || rank < 0) return false;
  const int world_rank = world->world_rank_of(comm, rank);
  if (world_rank < 0) return false;
  return world->is_lost(world_rank) ||
         (by_mpi != nullptr && by_mpi->by_world_rank[static_cast<std::size_t>(world_rank)].load());
}

bool is_out_of_reach(MPI_Comm comm, int rank) { return is_revoked(comm) || is_lost(comm, rank); }

int code_of_loss(MPI_Comm comm) { return is_revoked(comm) ? ulfm::revoked_class() : proc_failed(); }

bool is_sent_at_once(int count, MPI_Datatype datatype) {
  constexpr std::size_t at_once_bytes = 2048;
  return World::current() != nullptr && count >= 0 && datatype != MPI_DATATYPE_NULL &&
         size_of_type(datatype) * static_cast<std::size_t>(count) <= at_once_bytes;
}

void note_code(MPI_Comm comm, int rank, int code) {
  if (rank < 0 || !is_loss(code) || is_pending(code) || is_revoked(code)) return;
  const int world_rank = World::current()->world_rank_of(comm, rank);
  if (world_rank >= 0)
    refused_by_mpi().by_world_rank[static_cast<std::size_t>(world_rank)].store(true);
}

bool is_hopeless(MPI_Comm comm, int source) {
  return is_revoked(comm) || is_without_peer(comm, source);
}

bool is_without_peer(MPI_Comm comm, int source) {
  return source == MPI_ANY_SOURCE ? is_everybody_else_lost(comm) : is_lost(comm, source);
}

bool goes_on(MPI_Comm comm, int& source, int tag, int code) {
  if (source != MPI_ANY_SOURCE || !is_loss(code) || is_revoked(code)) return false;
  if (masking.load(std::memory_order_acquire) != nullptr) return false;
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
  // Other errors have been with the program's handler already.
  if (!is_loss(code)) return code;
  if (is_ours_) note_code(comm_, peer_, code);
  return shim::finish(comm_ != MPI_COMM_NULL ? comm_ : communicator_in_error(), name_, code, lacks);
}

}  // namespace resprout::shim
