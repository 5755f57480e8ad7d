#include "mpi/handles/communicators/peers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/datatypes/type_size.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/process/world.hpp"
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

}  // namespace resprout::shim
