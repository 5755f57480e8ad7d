#include "shim/replication/communicator_name.hpp"

#include <atomic>

#include "runtime/engine.hpp"
#include "shim/communicator.hpp"
#include "shim/world.hpp"

namespace resprout::shim {

std::optional<std::uint64_t> name_of(MPI_Comm comm) {
  static std::atomic<std::uint64_t> numbered{0};
  const runtime::Lock lock = World::current()->engine().lock();
  Communicator* communicator = communicator_of(comm);
  if (communicator->session != nullptr) return communicator->session->id();
  if (communicator->is_inter || communicator->world_ranks.size() != 1) return std::nullopt;
  if (communicator->own_number == 0) communicator->own_number = ++numbered;
  return communicator->own_number;
}

}  // namespace resprout::shim
