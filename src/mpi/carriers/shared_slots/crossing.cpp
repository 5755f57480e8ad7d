#include "mpi/carriers/shared_slots/crossing.hpp"

#include <sched.h>

#include <algorithm>
#include <iterator>

#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/report/report.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::SlotWord;
using Step = protocols::SharedSlots::Step;

// What a member looks at of a rendezvous, in bytes.
constexpr std::size_t contributions_max = std::size_t{64} << 10;
// Looks at a slot before the engine is driven meanwhile: with the processor given up in between, or
// where there is one for each.
constexpr int yields_max = 4;
constexpr int spins_max = 399;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// What it says, though it was written for another number of bytes. The area is looked for.
SlotWord seek(CommunicatorSlots& shared_slots, std::size_t bytes) {
  const int member = index(shared_slots.machine.awaited());
  if (!shared_slots.slots.knows(member)) {
    const int world_rank = shared_slots.members->world_rank(shared_slots.machine.awaited());
    const auto found = World::current()->engine().slot_pool().find(world_rank, shared_slots.name);
    if (!found.is_there) return SlotWord::empty;
    if (!found.area) return SlotWord::left;
    shared_slots.slots.know(member, *found.area);
  }
  const SlotWord word = look(shared_slots, bytes);
  return word == SlotWord::empty ? look(shared_slots, elsewhere(bytes)) : word;
}

// By a mistake of the program the awaited member has begun a call of the other kind, which comes
// behind what is awaited. To be asked before the look at that.
bool has_gone_another_way(const CommunicatorSlots& shared_slots) {
  const int member = index(shared_slots.machine.awaited());
  if (!shared_slots.slots.knows(member)) return false;
  const auto is_written = [&](const protocols::SharedSlot& slot, std::size_t bytes) {
    return shared_slots.slots.look(member, slot, bytes) != SlotWord::empty;
  };
  if (shared_slots.machine.slot().kind == protocols::SlotKind::broadcast)
    return is_written(shared_slots.machine.rendezvous_slot(), 0);
  const protocols::SharedSlot slot = shared_slots.machine.broadcast_slot();
  return is_written(slot, 0) || is_written(slot, elsewhere(0));
}

// Until the awaited slot says something, or will never. Without the engine's lock.
[[gnu::noinline]] void drive_until(Communicator& communicator, std::size_t bytes) {
  runtime::Engine& engine = World::current()->engine();
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  const Rank member = shared_slots.machine.awaited();
  const int world_rank = shared_slots.members->world_rank(member);
  const auto is_awaited = [&] {
    return shared_slots.machine.step() == Step::look && shared_slots.machine.awaited() == member;
  };
  runtime::Lock lock = engine.lock();
  if (engine.notices().has_unread()) engine.read_notices(lock);
  communicator.session->standstill.note_awaited_over_shared_slots(world_rank);
  engine.wait_until(lock, [&] {
    look_once(shared_slots, *communicator.session, bytes);
    return !is_awaited();
  });
  communicator.session->standstill.note_awaited_over_shared_slots(runtime::Standstill::no_member);
}

}  // namespace

[[gnu::noinline]] std::size_t read_other(const runtime::SlotMemory& slots, int root,
                                         const protocols::SharedSlot& slot, void* into,
                                         std::size_t bytes) {
  const bool is_elsewhere = slots.look(root, slot, bytes) != SlotWord::full;
  const std::size_t there = slots.bytes_of(root, slot, is_elsewhere ? elsewhere(bytes) : bytes);
  if (there <= bytes) slots.read(root, slot, into, there);
  return there;
}

bool is_predefined(MPI_Op op) {
  const MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                        MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

bool can_be_contribution(std::size_t bytes, int members, bool is_summed) {
  const int looked_at =
      is_summed ? std::min(members, protocols::SharedSlotsConfig{}.group) : members;
  return bytes > 0 && bytes <= runtime::SlotMemory::rendezvous_bytes_max &&
         bytes * static_cast<std::size_t>(looked_at) <= contributions_max;
}

Communicator* at_head(World* world, MPI_Comm comm) {
  if (world == nullptr || comm == MPI_COMM_NULL) return nullptr;
  Communicator* communicator = communicator_of(comm);
  return is_free_at_head(*world, *communicator) ? communicator : nullptr;
}

bool is_free_at_head(const World& world, const Communicator& communicator) {
  const CommunicatorSlots* shared_slots = communicator.shared_slots.get();
  return shared_slots != nullptr && communicator.session != nullptr &&
         !communicator.session->has_tasks() && has_current_shared_slots(communicator) &&
         shared_slots->losses == world.lost_count() && !shared_slots->machine.is_over() &&
         shared_slots->takes_part() && !communicator.session->is_revoked() &&
         communicator.missing_values == nullptr;
}

void count(World& world, Communicator& communicator, const char* name) {
  count_call(world, name);
  communicator.calls.next(name);
}

runtime::Outcome outcome_of(CommunicatorSlots& shared_slots, const MemberSet& missing) {
  runtime::Outcome outcome;
  outcome.is_delivered = true;
  if (missing.none()) return outcome;
  const bool is_new = (missing & ~shared_slots.missing.in_any).any();
  shared_slots.missing.in_any |= missing;
  outcome.is_touched = is_new || World::current()->options().on_loss == OnLoss::error;
  if (shared_slots.missing.seen_ns != 0)
    outcome.recovery_ns = wall_clock_ns() - shared_slots.missing.seen_ns;
  for (int member = 0; member < shared_slots.slots.size(); ++member)
    if (missing[static_cast<std::size_t>(member)])
      outcome.lost.push_back(shared_slots.members->world_rank(rank_at(member)));
  return outcome;
}

void finish_at_head(Communicator& communicator, MPI_Comm comm, const char* name,
                    const MemberSet& missing, int& code) {
  if (missing.none() && code == MPI_SUCCESS) [[likely]]
    return;
  if (missing.none()) {
    code = finish(comm, name, code);
    return;
  }
  const MemberSet those = missing;  // it may be what is reset here
  const int last_root = communicator.shared_slots->last.root;
  CollectiveCall call(comm, name, CollectiveCall::Lock::later, CollectiveCall::Entry::again);
  note_last(communicator, last_root);
  communicator.shared_slots->missing.in_last = those;
  code = call.finish(outcome_of(*communicator.shared_slots, those), code);
}

MemberSet missing_in(CommunicatorSlots& shared_slots, const protocols::SharedSlot& slot) {
  know_areas(shared_slots, 0, shared_slots.slots.size());
  MemberSet missing;
  for (int i = 0; i < shared_slots.slots.size(); ++i)
    missing[static_cast<std::size_t>(i)] = shared_slots.slots.look(i, slot, 0) != SlotWord::full;
  return missing;
}

CommunicatorSlots& crossing(CollectiveCall& call) {
  call.lock().unlock();
  return *call.communicator().shared_slots;
}

// Those who are past the rendezvous may wait for this process in the library.
void give_up_rendezvous(Communicator& communicator) {
  const runtime::Lock lock = World::current()->engine().lock();
  communicator.session->standstill.revoke_if_passed();
}

bool Looks::go_on() {
  const runtime::Engine& engine = world_.engine();
  const bool is_crowded = world_.is_oversubscribed();
  if (count_ >= (is_crowded ? yields_max : spins_max) || engine.notices().has_unread() ||
      engine.has_new_death_mark())
    return false;
  ++count_;
  if (is_crowded)
    sched_yield();
  else
    relax();
  return true;
}

// A member that is lost may still be ending: what it has not written is final only when it has
// ended. By a mistake of the program it may have gone on without a word here: what it has begun
// comes behind what it has written.
void look_once(CommunicatorSlots& shared_slots, const runtime::Session& session,
               std::size_t bytes) {
  World& world = *World::current();
  const Rank member = shared_slots.machine.awaited();
  const int world_rank = shared_slots.members->world_rank(member);
  const bool has_ended = world.lost_count() != 0 && world.engine().has_ended(world_rank);
  if (world.lost_count() != 0 && shared_slots.missing.seen_ns == 0)
    shared_slots.missing.seen_ns = wall_clock_ns();
  const bool has_passed = session.is_behind(world_rank) || has_gone_another_way(shared_slots);
  if (maybe_take_record(shared_slots)) return;
  shared_slots.machine.handle_look(seek(shared_slots, bytes), has_ended);
  if (shared_slots.machine.step() != Step::look || shared_slots.machine.awaited() != member) return;
  if (has_passed) shared_slots.is_passed_by = true;
  if (has_passed || session.is_revoked()) shared_slots.machine.end();
}

void await(Communicator& communicator, std::size_t bytes) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  Looks looks(*World::current());
  do {
    if (maybe_take_record(shared_slots)) return;
    const SlotWord word = seek(shared_slots, bytes);
    if (word != SlotWord::empty) return shared_slots.machine.handle_look(word, false);
  } while (looks.go_on());
  drive_until(communicator, bytes);
}

// A record is looked for before each slot: it spares looks at others.
bool await_groups(Communicator& communicator, const Summing* summing) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  protocols::SharedSlots& machine = shared_slots.machine;
  while (machine.step() == Step::look || machine.is_recording()) {
    if (machine.is_recording())
      write_record(shared_slots, summing);
    else if (maybe_take_record(shared_slots))
      continue;
    else if (look(shared_slots, 0) == SlotWord::full)
      machine.handle_look(SlotWord::full, false);
    else
      await(communicator, 0);
  }
  return machine.step() == Step::read;
}

bool await_prefix(Communicator& communicator, std::size_t bytes) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  while (shared_slots.machine.step() == Step::look) {
    if (maybe_take_prefix(shared_slots)) continue;
    if (look(shared_slots, bytes) == SlotWord::full)
      shared_slots.machine.handle_look(SlotWord::full, false);
    else
      await(communicator, bytes);
  }
  return shared_slots.machine.step() == Step::read;
}

}  // namespace resprout::shim
