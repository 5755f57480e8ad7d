#include "mpi/operations/communicators/closing.hpp"

#include <memory>

#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/departures.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/process/world.hpp"
#include "runtime/collectives.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

// Nobody has to know whether all have come to the end of it.
bool may_depart(const Communicator& communicator) {
  return communicator.repair == nullptr && !communicator.session->is_revoked() &&
         (communicator.session->has_begun() || communicator.derived);
}

}  // namespace

Parting close_communicator(MPI_Comm comm, PartingWaits waits) {
  World* world = World::current();
  if (world == nullptr) return Parting::alone;
  Communicator* communicator = communicator_of(comm);
  if (communicator->session == nullptr) return Parting::alone;
  runtime::Engine& engine = world->engine();
  runtime::Lock lock = engine.lock();
  finish_departures(engine, lock);
  communicator->session->finish_tasks(lock);
  if (communicator->repair != nullptr) communicator->repair->finish_tasks(lock);
  leave_communicator(comm, lock);
  leave_shared_slots(*communicator);
  if (waits == PartingWaits::if_needed && may_depart(*communicator)) {
    const Parting parting = communicator->session->is_whole() ? Parting::alone : Parting::unclean;
    forget_session(*communicator->session);
    communicator->is_departing = true;
    communicator->is_lingering |= communicator->derived.has_value();
    depart(std::unique_ptr<Communicator>(communicator));
    return parting;
  }
  // Nothing was ever said in it: nobody has to hear that it ends. But what carries the messages of
  // a derived one goes to others.
  if (communicator->session->has_begun() || communicator->derived)
    runtime::barrier(*communicator->session, lock);
  communicator->is_revoked = communicator->session->is_revoked();
  bool is_clean = !communicator->is_revoked;
  if (is_clean && !communicator->session->is_whole()) {
    lock.unlock();
    is_clean =
        communicator->derived && drain(communicator->derived->pool_index, *communicator->session);
    lock.lock();
  }
  if (communicator->repair != nullptr) engine.close_session(lock, *communicator->repair);
  forget_session(*communicator->session);
  if (communicator->native != MPI_COMM_NULL) leave_native(communicator->native, is_clean);
  leave_neighbors(*communicator, is_clean);
  engine.close_session(lock, *communicator->session);
  communicator->session = nullptr;
  communicator->repair = nullptr;
  return is_clean ? Parting::clean : Parting::unclean;
}

}  // namespace resprout::shim
