#include "mpi/carriers/lanes/crossing.hpp"

#include <sched.h>

#include <algorithm>
#include <iterator>

#include "mpi/process/report/report.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::LaneWord;
using Step = protocols::Lanes::Step;

// What all have put into a meeting together, in bytes.
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
LaneWord seek(CommunicatorLanes& lanes, std::size_t bytes) {
  const int member = index(lanes.machine.awaited());
  if (!lanes.slots.knows(member)) {
    const int world_rank = lanes.members->world_rank(lanes.machine.awaited());
    const auto found = World::current()->engine().lane_pool().find(world_rank, lanes.name);
    if (!found.is_there) return LaneWord::empty;
    if (!found.area) return LaneWord::left;
    lanes.slots.know(member, *found.area);
  }
  const LaneWord word = look(lanes, bytes);
  return word == LaneWord::empty ? look(lanes, elsewhere(bytes)) : word;
}

// By a mistake of the program the awaited member has begun a call of the other kind, which comes
// behind what is awaited. To be asked before the look at that.
bool has_gone_another_way(const CommunicatorLanes& lanes) {
  const int member = index(lanes.machine.awaited());
  if (!lanes.slots.knows(member)) return false;
  const auto is_written = [&](const protocols::LaneSlot& slot, std::size_t bytes) {
    return lanes.slots.look(member, slot, bytes) != LaneWord::empty;
  };
  if (lanes.machine.slot().kind == protocols::LaneKind::broadcast)
    return is_written(lanes.machine.meeting_slot(), 0);
  const protocols::LaneSlot slot = lanes.machine.broadcast_slot();
  return is_written(slot, 0) || is_written(slot, elsewhere(0));
}

// Until the awaited slot says something, or will never. Without the engine's lock.
[[gnu::noinline]] void drive_until(Communicator& communicator, std::size_t bytes) {
  runtime::Engine& engine = World::current()->engine();
  CommunicatorLanes& lanes = *communicator.lanes;
  const Rank member = lanes.machine.awaited();
  const int world_rank = lanes.members->world_rank(member);
  const auto is_awaited = [&] {
    return lanes.machine.step() == Step::look && lanes.machine.awaited() == member;
  };
  runtime::Lock lock = engine.lock();
  if (engine.notices().has_unread()) engine.read_notices(lock);
  communicator.session->standstill.note_awaited_over_lanes(world_rank);
  engine.wait_until(lock, [&] {
    look_once(lanes, *communicator.session, bytes);
    return !is_awaited();
  });
  communicator.session->standstill.note_awaited_over_lanes(runtime::Standstill::no_member);
}

}  // namespace

bool is_predefined(MPI_Op op) {
  const MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                        MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

bool can_be_contribution(std::size_t bytes, int members) {
  return bytes > 0 && bytes <= runtime::LaneMemory::meeting_bytes_max &&
         bytes * static_cast<std::size_t>(members) <= contributions_max;
}

Communicator* at_head(World* world, MPI_Comm comm) {
  if (world == nullptr || comm == MPI_COMM_NULL) return nullptr;
  Communicator* communicator = communicator_of(comm);
  const CommunicatorLanes* lanes = communicator->lanes.get();
  if (lanes == nullptr || communicator->session == nullptr || communicator->session->has_tasks() ||
      !has_current_lanes(*communicator) || lanes->losses != world->lost_count() ||
      lanes->machine.is_over() || !lanes->takes_part() || communicator->session->is_revoked() ||
      communicator->stand_ins != nullptr)
    return nullptr;
  return communicator;
}

void count(World& world, Communicator& communicator, const char* name) {
  count_call(world, name);
  communicator.calls.next(name);
}

CommunicatorLanes& crossing(CollectiveCall& call) {
  call.lock().unlock();
  return *call.communicator().lanes;
}

// Those who are past the meeting may wait for this process in the library.
void give_up_meeting(Communicator& communicator) {
  const runtime::Lock lock = World::current()->engine().lock();
  communicator.session->standstill.revoke_if_passed();
}

bool Looks::go_on() {
  const runtime::Engine& engine = world_.engine();
  const bool is_crowded = world_.is_oversubscribed();
  if (count_ >= (is_crowded ? yields_max : spins_max) || engine.notices().has_unread() ||
      engine.misses_a_pulse())
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
void look_once(CommunicatorLanes& lanes, const runtime::Session& session, std::size_t bytes) {
  World& world = *World::current();
  const Rank member = lanes.machine.awaited();
  const int world_rank = lanes.members->world_rank(member);
  const bool has_ended = world.lost_count() != 0 && world.engine().has_ended(world_rank);
  if (world.lost_count() != 0 && lanes.missing.seen_ns == 0)
    lanes.missing.seen_ns = wall_clock_ns();
  const bool has_passed = session.is_behind(world_rank) || has_gone_another_way(lanes);
  lanes.machine.handle_look(seek(lanes, bytes), has_ended);
  if (lanes.machine.step() != Step::look || lanes.machine.awaited() != member) return;
  if (has_passed) lanes.is_passed_by = true;
  if (has_passed || session.is_revoked()) lanes.machine.end();
}

void await(Communicator& communicator, std::size_t bytes) {
  CommunicatorLanes& lanes = *communicator.lanes;
  LaneWord word = seek(lanes, bytes);
  Looks looks(*World::current());
  while (word == LaneWord::empty && looks.go_on()) word = seek(lanes, bytes);
  if (word == LaneWord::empty)
    drive_until(communicator, bytes);
  else
    lanes.machine.handle_look(word, false);
}

}  // namespace resprout::shim
