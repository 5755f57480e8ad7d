#include "mpi/policies/replicas/gaps.hpp"

#include <atomic>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

// What carries the messages of a derived one has, too. REQUIRES: siblings stand in.
bool has_gap(MPI_Comm comm) {
  if (is_derived(comm)) return true;
  if (World::current()->lost_count() == 0) return false;
  const int size = static_cast<int>(communicator_of(comm)->world_ranks.size());
  for (int rank = 0; rank < size; ++rank)
    if (is_lost(comm, rank)) return true;
  return false;
}

std::optional<Decided::From> find_in_mpi(MPI_Comm comm, int source, int tag) {
  int flag = 0;
  MPI_Status status;
  const Address from = address_of(comm, source);
  if (PMPI_Iprobe(from.peer, tag, from.comm, &flag, &status) != MPI_SUCCESS || flag == 0)
    return std::nullopt;
  name_source(comm, &status);
  return Decided::From{status.MPI_SOURCE, status.MPI_TAG};
}

std::optional<Decided::From> find_from(MPI_Comm comm, int source, int tag) {
  if (!is_lost(comm, source)) return find_in_mpi(comm, source, tag);
  const auto said = verified_messages.load()->first_of_lost(comm, source, tag);
  return said ? std::optional(Decided::From{source, said->name.stream.tag}) : std::nullopt;
}

// Who comes after the last one that was found comes first.
std::optional<Decided::From> find_from_anybody(MPI_Comm comm, int tag) {
  static std::atomic<int> first{0};
  const int size = static_cast<int>(communicator_of(comm)->world_ranks.size());
  for (int i = 0; i < size; ++i) {
    const int rank = (first.load() + i) % size;
    const auto found = find_from(comm, rank, tag);
    if (!found) continue;
    first.store(rank + 1);
    return found;
  }
  return std::nullopt;
}

}  // namespace

bool is_stood_in_for(MPI_Comm comm, int rank) {
  return rank >= 0 && replica_substitution.load(std::memory_order_acquire) != nullptr &&
         is_lost(comm, rank);
}

std::optional<Decided::From> find_message(MPI_Comm comm, int source, int tag) {
  const ReplicaSubstitution* by = replica_substitution.load(std::memory_order_acquire);
  if (by == nullptr || !has_gap(comm)) return find_in_mpi(comm, source, tag);
  return source == MPI_ANY_SOURCE ? find_from_anybody(comm, tag) : find_from(comm, source, tag);
}

int probe_in_gap(MPI_Comm comm, int source, int tag, MPI_Status* status) {
  std::optional<runtime::Recall::Headline> said;
  replica_substitution.load()->wait_for([&] {
    said = verified_messages.load()->first_of_lost(comm, source, tag);
    return said.has_value();
  });
  MPI_Status found{};
  found.MPI_SOURCE = source;
  found.MPI_TAG = said->name.stream.tag;
  PMPI_Status_set_elements_x(&found, MPI_BYTE, static_cast<MPI_Count>(said->bytes));
  copy_status(found, status);
  return MPI_SUCCESS;
}

}  // namespace resprout::shim
