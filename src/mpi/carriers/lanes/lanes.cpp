#include "mpi/carriers/lanes/lanes.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <span>

#include "mpi/carriers/bitwise_and.hpp"
#include "mpi/carriers/stand_ins.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::Lanes;
using protocols::LaneWord;
using runtime::LaneMemory;
using Step = Lanes::Step;

constexpr int ranks_max = static_cast<int>(runtime::LanePool::members_max);
// Each member looks at what all others have put into a meeting: so many bytes together.
constexpr std::size_t contributions_max = std::size_t{64} << 10;
// So many members meet where each has a core; with more of them trees may be quicker there.
constexpr int meeting_members_max = 16;
// Looks at a slot before the engine is driven meanwhile: with the processor given up in between, or
// where there is one for each.
constexpr int yields_max = 4;
constexpr int spins_max = 400;

bool can_be_contribution(std::size_t bytes, const CommunicatorLanes& lanes) {
  return bytes > 0 && bytes <= LaneMemory::meeting_bytes_max &&
         bytes * static_cast<std::size_t>(lanes.slots.size()) <= contributions_max;
}

bool is_predefined(MPI_Op op) {
  const MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                        MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

bool has_lost_member(const runtime::Members& members) {
  const World& world = *World::current();
  if (world.lost_count() == 0) return false;
  for (int i = 0; i < members.size(); ++i)
    if (world.is_lost(members.world_rank(rank_at(i)))) return true;
  return false;
}

bool has_to_leave(const CommunicatorLanes& lanes) {
  return !lanes.takes_part() || has_lost_member(*lanes.members);
}

// Those whom others take for lost may still live, and take others for lost: who takes part belongs
// to the name.
std::uint64_t name_of_lanes(const runtime::Session& session) {
  if (session.is_whole()) return session.id();
  std::uint64_t digest = 0;
  for (int i = 0; i < session.members().size(); ++i) {
    digest ^= static_cast<std::uint64_t>(session.members().world_rank(rank_at(i)));
    digest = splitmix64(digest);
  }
  return session.child(digest);
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// So many bytes have their slots where these have not.
constexpr std::size_t elsewhere(std::size_t bytes) {
  constexpr std::size_t narrow = LaneMemory::narrow_bytes;
  return bytes <= narrow ? narrow + 1 : narrow;
}

// What the awaited slot says, if its member's area is known. `bytes`: of a broadcast.
inline LaneWord look(const CommunicatorLanes& lanes, std::size_t bytes) {
  return lanes.slots.look(index(lanes.machine.awaited()), lanes.machine.slot(), bytes);
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

// Until the awaited slot says something, or will never. Without the engine's lock. A member that is
// lost may still be ending: what it has not written is final only when it has ended.
[[gnu::noinline]] void drive_until(Communicator& communicator, std::size_t bytes) {
  const World& world = *World::current();
  runtime::Engine& engine = World::current()->engine();
  CommunicatorLanes& lanes = *communicator.lanes;
  const Rank member = lanes.machine.awaited();
  const int world_rank = lanes.members->world_rank(member);
  const auto is_awaited = [&] {
    return lanes.machine.step() == Step::look && lanes.machine.awaited() == member;
  };
  runtime::Lock lock = engine.lock();
  if (engine.has_notice()) engine.read_notices(lock);
  communicator.session->standstill.note_awaited_over_lanes(world_rank);
  engine.wait_until(lock, [&] {
    const bool has_ended = world.lost_count() != 0 && engine.has_ended(world_rank);
    // By a mistake of the program it may have gone on without a word here: what it has begun comes
    // behind what it has written.
    const bool has_passed = communicator.session->is_behind(world_rank);
    lanes.machine.handle_look(seek(lanes, bytes), has_ended);
    if (is_awaited() && has_passed) lanes.is_passed_by = true;
    if (is_awaited() && (has_passed || communicator.session->is_revoked())) lanes.machine.end();
    return !is_awaited();
  });
  communicator.session->standstill.note_awaited_over_lanes(runtime::Standstill::no_member);
}

// Those who are past the meeting may wait for this process in the library.
void give_up_meeting(Communicator& communicator) {
  const runtime::Lock lock = World::current()->engine().lock();
  communicator.session->standstill.revoke_if_passed();
}

// The awaited slot was not full.
[[gnu::noinline]] void await(Communicator& communicator, std::size_t bytes) {
  CommunicatorLanes& lanes = *communicator.lanes;
  LaneWord word = seek(lanes, bytes);
  World& world = *World::current();
  const runtime::Engine& engine = world.engine();
  const auto goes_on = [&] {
    return word == LaneWord::empty && !engine.has_notice() && !engine.misses_a_pulse();
  };
  if (world.is_oversubscribed()) {
    for (int i = 0; i < yields_max && goes_on(); ++i) {
      sched_yield();
      word = seek(lanes, bytes);
    }
  } else {
    for (int i = 1; i < spins_max && goes_on(); ++i) {
      relax();
      word = seek(lanes, bytes);
    }
  }
  if (word == LaneWord::empty)
    drive_until(communicator, bytes);
  else
    lanes.machine.handle_look(word, false);
}

// True: what was awaited can be read. False: the lanes are over. REQUIRES: the machine looks.
inline bool await_all(Communicator& communicator, std::size_t bytes) {
  CommunicatorLanes& lanes = *communicator.lanes;
  do {
    if (look(lanes, bytes) == LaneWord::full) [[likely]]
      lanes.machine.handle_look(LaneWord::full, false);
    else
      await(communicator, bytes);
  } while (lanes.machine.step() == Step::look);
  return lanes.machine.step() == Step::read;
}

// What the machine wants to be written. False: that this member leaves, and the lanes are over.
inline bool write(CommunicatorLanes& lanes, const void* payload, std::size_t bytes) {
  const protocols::LaneWrite wanted = lanes.machine.poll_write();
  if (!lanes.takes_part()) [[unlikely]] {
    lanes.machine.end();
    return false;
  }
  if (wanted.word == LaneWord::left) {
    lanes.slots.leave(wanted.slot, bytes);
    return false;
  }
  lanes.slots.write(wanted.slot, payload, bytes);
  return true;
}

// The meeting that the machine has started.
inline bool meet(Communicator& communicator) {
  CommunicatorLanes& lanes = *communicator.lanes;
  if (!write(lanes, nullptr, 0) || !await_all(communicator, 0)) return false;
  lanes.machine.poll_read();
  return true;
}

// What the root has put into a broadcast that can be read; `into` has room for `bytes`. How many
// there are: none is copied where these are more.
[[gnu::noinline]] std::size_t read_other(const LaneMemory& slots, int root,
                                         const protocols::LaneSlot& slot, void* into,
                                         std::size_t bytes) {
  const bool is_elsewhere = slots.look(root, slot, bytes) != LaneWord::full;
  const std::size_t there = slots.bytes_of(root, slot, is_elsewhere ? elsewhere(bytes) : bytes);
  if (there <= bytes) slots.read(root, slot, into, there);
  return there;
}
inline std::size_t read(const CommunicatorLanes& lanes, int root, const protocols::LaneSlot& slot,
                        void* into, std::size_t bytes) {
  if (lanes.slots.bytes_of(root, slot, bytes) != bytes) [[unlikely]]
    return read_other(lanes.slots, root, slot, into, bytes);
  lanes.slots.read(root, slot, into, bytes);
  return bytes;
}

void note_last(Communicator& communicator, int root) {
  communicator.last = nullptr;
  communicator.lanes->last_root = root;
}

// The broadcast itself is done even where the meeting that is due behind it is over.
void end_broadcast(Communicator& communicator, int root) {
  note_last(communicator, root);
  if (communicator.lanes->machine.step() != Step::none) [[unlikely]]
    meet(communicator);
}

// What all have put into the meeting that can be read.
struct Contributions {
  const LaneMemory& slots;
  const protocols::LaneSlot slot;
  const std::size_t bytes;

  std::span<const std::byte> of(int member) const {
    return {slots.payload(member, slot, bytes), bytes};
  }
  // All have as many.
  bool are_alike() const {
    bool are = true;
    for (int i = 0; i < slots.size(); ++i) are &= slots.bytes_of(i, slot, bytes) == bytes;
    return are;
  }
};

// Of `count` members from `first` on, in the grouping of the binomial tree over all, as reductions
// of ours have it: partial results of 1, 2, 4, ... members.
void combine(const Contributions& all, int first, int count, MpiCombiner& combiner,
             std::span<std::byte> into) {
  if (count == 1) {
    std::memcpy(into.data(), all.of(first).data(), all.bytes);
    return;
  }
  const int lower = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
  combine(all, first + lower, count - lower, combiner, into);
  if (lower == 1) {
    combiner.combine(all.of(first), into);
    return;
  }
  alignas(64) std::array<std::byte, LaneMemory::meeting_bytes_max> storage;
  const std::span partial(storage.data(), all.bytes);
  combine(all, first, lower, combiner, partial);
  combiner.combine(partial, into);
}

// The same, with what all have put into it.
bool meet_and_combine(Communicator& communicator, const void* input, void* recvbuf,
                      const Layout& layout, MPI_Op op, int& code) {
  CommunicatorLanes& lanes = *communicator.lanes;
  if (!write(lanes, input, layout.packed_bytes)) return false;
  const bool are_there = await_all(communicator, 0);
  if (!are_there && !lanes.is_passed_by) return false;
  note_last(communicator, -1);
  code = MPI_ERR_TRUNCATE;
  if (!are_there) give_up_meeting(communicator);
  if (!are_there) return true;
  const Contributions all{lanes.slots, lanes.machine.poll_read(), layout.packed_bytes};
  if (!all.are_alike()) return true;
  MpiCombiner combiner(op, layout);
  combine(all, 0, lanes.slots.size(), combiner,
          {static_cast<std::byte*>(recvbuf), layout.packed_bytes});
  code = combiner.code();
  return true;
}

// Members only ever become fewer. That somebody was left out may be known, from a result, before
// that he is lost. REQUIRES: it has a session, without tasks.
bool has_current_lanes(const Communicator& communicator) {
  return communicator.lanes != nullptr &&
         communicator.lanes->slots.size() == communicator.session->members().size();
}

// Null: the call is not to be taken at the head of its wrapper.
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

bool are_wanted(const Communicator& communicator, Kind kind) {
  const Options& options = World::current()->options();
  const runtime::Session& session = *communicator.session;
  const Collectives wanted = communicator.collectives.value_or(options.collectives);
  const bool is_for_few = kind != Kind::broadcast && !World::current()->is_oversubscribed();
  if (is_for_few && session.members().size() > meeting_members_max) return false;
  // Then each call says who is missing.
  const bool wants_all = options.on_loss == OnLoss::error || options.stands_in();
  if (wants_all && !session.is_whole()) return false;
  return is_choice_free(communicator, kind) && wanted != Collectives::native &&
         wanted != Collectives::trees;
}

// Its lock is free, and what it has to do of its own was done.
CommunicatorLanes& crossing(CollectiveCall& call) {
  call.lock().unlock();
  return *call.communicator().lanes;
}

}  // namespace

bool can_have_lanes(const Communicator& communicator) {
  const runtime::Session& session = *communicator.session;
  return World::current()->engine().lane_pool().is_shared() && session.is_on_one_host() &&
         session.members().size() > 1 && session.members().size() <= ranks_max;
}

// Who knows of a loss needs no area: it will write nothing.
CommunicatorLanes::CommunicatorLanes(const Communicator& communicator)
    : members(communicator.session->shared_members()),
      is_whole(communicator.session->is_whole()),
      name(name_of_lanes(*communicator.session)),
      ticket(
          World::current()->engine().lane_pool().enter(name, members, !has_lost_member(*members))),
      slots(index(members->self()), members->size()),
      machine({slots.size(), LaneMemory::broadcast_slots, LaneMemory::meeting_slots},
              members->self()),
      carries_broadcasts(are_wanted(communicator, Kind::broadcast)),
      carries_reductions(are_wanted(communicator, Kind::allreduce)) {
  if (ticket.area) slots.know(index(members->self()), *ticket.area);
}

// The slots of the next operation may have been written: nobody else was through with it then.
CommunicatorLanes::~CommunicatorLanes() {
  World* world = World::current();
  if (world == nullptr) return;
  const std::uint64_t operations =
      std::max(machine.broadcast_slot().number, machine.meeting_slot().number) + 1;
  world->engine().lane_pool().leave(ticket, name, members, LaneMemory::stamps_each * operations);
}

// Whoever was interrupted may not have come to what others did in them.
void leave_lanes(Communicator& communicator) {
  const runtime::Session& session = *communicator.session;
  if (!has_current_lanes(communicator) && session.is_revoked() && can_have_lanes(communicator) &&
      (are_wanted(communicator, Kind::broadcast) || are_wanted(communicator, Kind::allreduce)))
    World::current()->engine().lane_pool().stay_away(name_of_lanes(session),
                                                     session.shared_members());
  communicator.lanes.reset();
}

Taken maybe_broadcast_by_lanes(void* buffer, int count, MPI_Datatype datatype, int root,
                               MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr) return Taken::no;
  const Layout layout = layout_of(datatype, count);
  CommunicatorLanes& lanes = *communicator->lanes;
  const std::size_t bytes = layout.packed_bytes;
  const Rank root_member = lanes.member(root);
  if (!layout.is_dense || bytes == 0 || bytes > LaneMemory::broadcast_bytes_max ||
      root_member == no_rank || !lanes.carries_broadcasts)
    return Taken::no;
  shim::count(*world, *communicator, "bcast");
  const InsideCall inside({"bcast", comm, CurrentCall::Needs::members});
  lanes.machine.start_broadcast(root_member, false);
  if (lanes.machine.step() == Step::write) {
    write(lanes, buffer, bytes);
  } else {
    if (!await_all(*communicator, bytes)) return Taken::over;
    if (read(lanes, index(root_member), lanes.machine.poll_read(), buffer, bytes) > bytes)
      code = MPI_ERR_TRUNCATE;
  }
  end_broadcast(*communicator, root);
  return Taken::done;
}

Taken maybe_allreduce_by_lanes(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->lanes->carries_reductions || !is_predefined(op))
    return Taken::no;
  const Layout layout = layout_of(datatype, count);
  if (!layout.is_dense || !can_be_contribution(layout.packed_bytes, *communicator->lanes))
    return Taken::no;
  shim::count(*world, *communicator, "allreduce");
  const InsideCall inside({"allreduce", comm, CurrentCall::Needs::members});
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  communicator->lanes->machine.start_meeting(false);
  return meet_and_combine(*communicator, input, recvbuf, layout, op, code) ? Taken::done
                                                                           : Taken::over;
}

Taken maybe_barrier_by_lanes(MPI_Comm comm) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->lanes->carries_reductions) return Taken::no;
  count(*world, *communicator, "barrier");
  const InsideCall inside({"barrier", comm, CurrentCall::Needs::members});
  communicator->lanes->machine.start_meeting(false);
  if (!meet(*communicator)) return Taken::over;
  note_last(*communicator, -1);
  return Taken::done;
}

// Whether the library may still carry anything is not asked: a member that was interrupted in one
// of its calls knows more of that than one that was through before. What the slots say all know.
bool goes_by_lanes(CollectiveCall& call, Kind kind, std::size_t bytes, MPI_Op op) {
  if (call.session().has_tasks()) call.lock();
  Communicator& communicator = call.communicator();
  if (call.session().is_revoked() || !can_have_lanes(communicator) ||
      !are_wanted(communicator, kind))
    return false;
  if (!has_current_lanes(communicator))
    communicator.lanes = std::make_unique<CommunicatorLanes>(communicator);
  CommunicatorLanes& lanes = *communicator.lanes;
  if (lanes.machine.is_over()) return false;
  const int losses = World::current()->lost_count();
  if (lanes.losses != losses && !has_lost_member(*lanes.members)) lanes.losses = losses;
  if (kind == Kind::barrier) return true;
  const bool combines =
      kind == Kind::allreduce || kind == Kind::scan || kind == Kind::reduce_scatter;
  if (combines && !is_predefined(op)) return false;
  return kind == Kind::broadcast ? bytes > 0 && bytes <= LaneMemory::broadcast_bytes_max
                                 : can_be_contribution(bytes, lanes);
}

bool broadcast_by_lanes(CollectiveCall& call, void* buffer, const Layout& layout, int root,
                        int& code) {
  const Rank root_member = call.communicator().lanes->member(root);
  if (root_member == no_rank) return false;
  Communicator& communicator = call.communicator();
  CommunicatorLanes& lanes = crossing(call);
  const std::size_t bytes = layout.packed_bytes;
  lanes.machine.start_broadcast(root_member, has_to_leave(lanes));
  if (lanes.machine.step() == Step::write) {
    std::vector<std::byte> storage;
    if (!write(lanes, packed(buffer, layout, storage).data(), bytes)) return false;
  } else {
    if (!await_all(communicator, bytes)) return false;
    std::array<std::byte, LaneMemory::broadcast_bytes_max> payload;
    const std::size_t there =
        read(lanes, index(root_member), lanes.machine.poll_read(), payload.data(), bytes);
    code = take_payload({payload.data(), there}, buffer, layout);
  }
  end_broadcast(communicator, root);
  return true;
}

bool allreduce_by_lanes(CollectiveCall& call, const void* input, void* recvbuf,
                        const Layout& layout, MPI_Op op, int& code) {
  CommunicatorLanes& lanes = crossing(call);
  lanes.machine.start_meeting(has_to_leave(lanes));
  return meet_and_combine(call.communicator(), input, recvbuf, layout, op, code);
}

bool barrier_by_lanes(CollectiveCall& call) {
  CommunicatorLanes& lanes = crossing(call);
  lanes.machine.start_meeting(has_to_leave(lanes));
  if (!meet(call.communicator())) return false;
  note_last(call.communicator(), -1);
  return true;
}

std::optional<int> meet_by_lanes(CollectiveCall& call, std::span<const std::byte> mine,
                                 std::vector<Brought>& all) {
  CommunicatorLanes& lanes = crossing(call);
  lanes.machine.start_meeting(has_to_leave(lanes));
  const std::size_t brought = std::min(mine.size(), LaneMemory::meeting_bytes_max);
  if (!write(lanes, mine.data(), brought)) return std::nullopt;
  const bool are_there = await_all(call.communicator(), 0);
  if (!are_there && !lanes.is_passed_by) return std::nullopt;
  note_last(call.communicator(), -1);
  if (!are_there) give_up_meeting(call.communicator());
  if (!are_there) return MPI_ERR_TRUNCATE;
  const protocols::LaneSlot slot = lanes.machine.poll_read();
  for (int i = 0; i < lanes.slots.size(); ++i) {
    const std::byte* const payload = lanes.slots.payload(i, slot, 0);
    all.push_back(
        {lanes.members->comm_rank(rank_at(i)), {payload, lanes.slots.bytes_of(i, slot, 0)}});
  }
  return brought == mine.size() ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

bool meet_at_end(Communicator& communicator, MPI_Comm native) {
  if (communicator.lanes == nullptr || communicator.lanes->machine.is_over())
    return !is_interruption(PMPI_Barrier(native));
  communicator.lanes->machine.start_meeting(!communicator.lanes->takes_part());
  return meet(communicator);
}

void stay_away_from_end(Communicator& communicator) {
  if (communicator.lanes == nullptr || communicator.lanes->machine.is_over()) return;
  communicator.lanes->machine.handle_interruption();
  write(*communicator.lanes, nullptr, 0);
}

}  // namespace resprout::shim
