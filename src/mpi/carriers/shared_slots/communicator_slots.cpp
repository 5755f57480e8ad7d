#include "mpi/carriers/shared_slots/communicator_slots.hpp"

#include <algorithm>

#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using runtime::SlotMemory;

constexpr int ranks_max = static_cast<int>(runtime::SlotPool::members_max);
// So many members meet where each has a core; with more of them trees may be quicker there.
constexpr int rendezvous_members_max = 16;

// Those whom others take for lost may still live, and take others for lost: who takes part belongs
// to the name.
std::uint64_t name_of_shared_slots(const runtime::Session& session) {
  if (session.is_whole()) return session.id();
  std::uint64_t digest = 0;
  for (int i = 0; i < session.members().size(); ++i) {
    digest ^= static_cast<std::uint64_t>(session.members().world_rank(rank_at(i)));
    digest = splitmix64(digest);
  }
  return session.child(digest);
}

}  // namespace

bool are_wanted(const Communicator& communicator, Kind kind) {
  const Options& options = World::current()->options();
  const runtime::Session& session = *communicator.session;
  const Collectives wanted = communicator.collectives.value_or(options.collectives);
  const bool is_for_few = kind != Kind::broadcast && !World::current()->is_oversubscribed();
  if (is_for_few && session.members().size() > rendezvous_members_max) return false;
  // Then each call says who is missing.
  const bool wants_all = options.on_loss == OnLoss::error || options.stands_in();
  if (wants_all && !session.is_whole()) return false;
  return is_choice_free(communicator, kind) && wanted != Collectives::native &&
         wanted != Collectives::trees;
}

bool has_lost_member(const runtime::Members& members) {
  const World& world = *World::current();
  if (world.lost_count() == 0) return false;
  for (int i = 0; i < members.size(); ++i)
    if (world.is_lost(members.world_rank(rank_at(i)))) return true;
  return false;
}

bool has_current_shared_slots(const Communicator& communicator) {
  return communicator.shared_slots != nullptr &&
         communicator.shared_slots->slots.size() == communicator.session->members().size();
}

bool can_have_shared_slots(const Communicator& communicator) {
  const runtime::Session& session = *communicator.session;
  return World::current()->engine().slot_pool().is_shared() && session.is_on_one_host() &&
         session.members().size() > 1 && session.members().size() <= ranks_max;
}

bool may_come_to_shared_slots(const Communicator& communicator) {
  const runtime::Session& session = *communicator.session;
  const Collectives wanted =
      communicator.collectives.value_or(World::current()->options().collectives);
  return World::current()->engine().slot_pool().is_shared() && session.is_on_one_host() &&
         session.everybody().size() <= ranks_max && wanted != Collectives::native &&
         wanted != Collectives::trees;
}

// Who knows of a loss needs no area: it will write nothing.
CommunicatorSlots::CommunicatorSlots(const Communicator& communicator)
    : members(communicator.session->shared_members()),
      is_whole(communicator.session->is_whole()),
      name(name_of_shared_slots(*communicator.session)),
      ticket(
          World::current()->engine().slot_pool().enter(name, members, !has_lost_member(*members))),
      slots(index(members->self()), members->size()),
      machine({slots.size(), SlotMemory::broadcast_slots, SlotMemory::rendezvous_slots},
              members->self()),
      carries_broadcasts(are_wanted(communicator, Kind::broadcast)),
      carries_reductions(are_wanted(communicator, Kind::allreduce)),
      carries_scatters(are_wanted(communicator, Kind::scatter)),
      carries_gathers(carries_reductions && !World::current()->options().stands_in()),
      bears_losses(carries_gathers) {
  if (ticket.area) slots.know(index(members->self()), *ticket.area);
}

// The slots of the next operation may have been written: nobody else was through with it then.
CommunicatorSlots::~CommunicatorSlots() {
  World* world = World::current();
  if (world == nullptr) return;
  const std::uint64_t operations =
      std::max(machine.broadcast_slot().number, machine.rendezvous_slot().number) + 1;
  world->engine().slot_pool().leave(ticket, name, members, SlotMemory::stamps_each * operations);
}

bool open_shared_slots(Communicator& communicator, Kind kind) {
  if (communicator.session->is_revoked() || !can_have_shared_slots(communicator) ||
      !are_wanted(communicator, kind))
    return false;
  if (!has_current_shared_slots(communicator))
    communicator.shared_slots = std::make_shared<CommunicatorSlots>(communicator);
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  if (shared_slots.machine.is_over()) return false;
  const int losses = World::current()->lost_count();
  if (shared_slots.losses != losses && !has_lost_member(*shared_slots.members))
    shared_slots.losses = losses;
  return true;
}

// Whoever was interrupted may not have come to what others did in them.
void leave_shared_slots(Communicator& communicator) {
  const runtime::Session& session = *communicator.session;
  if (!has_current_shared_slots(communicator) && session.is_revoked() &&
      can_have_shared_slots(communicator) &&
      (are_wanted(communicator, Kind::broadcast) || are_wanted(communicator, Kind::allreduce)))
    World::current()->engine().slot_pool().stay_away(name_of_shared_slots(session),
                                                     session.shared_members());
  communicator.shared_slots.reset();
}

}  // namespace resprout::shim
