#include "mpi/handles/communicators/sessions.hpp"

#include <tuple>

#include "mpi/handles/communicators/both_groups.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

// Tell the sessions for repairs, and of duplicates that are only started, apart from those of other
// communicators, which are counted.
constexpr std::uint64_t for_repair = ~std::uint64_t{0};
constexpr std::uint64_t for_started_duplicates = std::uint64_t{1} << 62;

}  // namespace

runtime::Session* session_of(MPI_Comm comm, runtime::Lock& lock) {
  Communicator* communicator = communicator_of(comm);
  if (communicator->is_native) return nullptr;
  if (communicator->session == nullptr) {
    runtime::Engine& engine = World::current()->engine();
    const auto& [name, world_ranks] =
        std::tie(communicator->session_name, communicator->world_ranks);
    communicator->session = name ? &engine.open_session(lock, *name, world_ranks)
                                 : &engine.open_session(lock, world_ranks);
    note_session(comm, *communicator->session);
  }
  return communicator->session;
}

runtime::Session* session_of(Communicator& communicator, MPI_Comm comm) {
  if (communicator.is_native) return nullptr;
  if (communicator.session != nullptr) [[likely]]
    return communicator.session;
  runtime::Lock lock = World::current()->engine().lock();
  return session_of(comm, lock);
}

runtime::Session* session_of_members(MPI_Comm comm, runtime::Lock& lock) {
  return has_both_groups(comm) ? &session_of_both(comm) : session_of(comm, lock);
}

runtime::Session* repair_session_of(MPI_Comm comm, runtime::Lock& lock) {
  runtime::Session* session = session_of_members(comm, lock);
  if (session == nullptr) return nullptr;
  Communicator* communicator = communicator_of(comm);
  if (communicator->repair == nullptr)
    communicator->repair = &World::current()->engine().open_session(
        lock, session->child(for_repair),
        communicator->is_inter ? both_groups_of(comm).all() : communicator->world_ranks);
  return communicator->repair;
}

void open_communicator(MPI_Comm comm, std::uint64_t name, runtime::Lock& lock) {
  if (comm == MPI_COMM_NULL) return;
  Communicator* communicator = communicator_of(comm);
  if (communicator->is_native || communicator->session != nullptr) return;
  communicator->session =
      &World::current()->engine().open_session(lock, name, communicator->world_ranks);
  note_session(comm, *communicator->session);
}

void name_started_duplicate(MPI_Comm comm, MPI_Comm made) {
  runtime::Lock lock = World::current()->engine().lock();
  const runtime::Session* session = session_of(comm, lock);
  if (session == nullptr) return;
  const std::uint64_t number = ++communicator_of(comm)->made.duplicates_started;
  if (made == MPI_COMM_NULL) return;
  name_session(made, session->child(for_started_duplicates + number));
}

}  // namespace resprout::shim
