#include "shim/collectives/lanes.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>

#include "runtime/engine.hpp"
#include "shim/collectives/bitwise_and.hpp"
#include "shim/communicator.hpp"
#include "shim/inject/inject.hpp"
#include "shim/report/report.hpp"
#include "shim/stand_ins/stand_ins.hpp"
#include "shim/ulfm/revocations.hpp"
#include "shim/world.hpp"

namespace resprout::shim {
namespace {

using runtime::Lanes;

// Memory of their own is for communicators that are used for more than this many calls.
constexpr int calls_before_lanes = 16;
constexpr int ranks_max = 16;
// Looks at a slot before the engine is driven meanwhile.
constexpr int spins_max = 400;

bool is_predefined(MPI_Op op) {
  const MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                        MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

bool has_lost_member(const World& world, const Communicator& communicator) {
  return world.lost_count() != 0 &&
         std::any_of(communicator.world_ranks.begin(), communicator.world_ranks.end(),
                     [&](int rank) { return world.is_lost(rank); });
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Until the slot of `member` says something, or will never. Without the engine's lock. A member
// that is lost may still be ending: what it has not written is final only when it has ended.
template <typename Look>
[[gnu::noinline]] Lanes::Slot drive_until(const Communicator& communicator, int member,
                                          const Look& look) {
  const World& world = *World::current();
  runtime::Engine& engine = World::current()->engine();
  const int world_rank = communicator.world_ranks[static_cast<std::size_t>(member)];
  Lanes::Slot slot = Lanes::Slot::empty;
  runtime::Lock lock = engine.lock();
  engine.wait_until(lock, [&] {
    slot = look();
    if (slot != Lanes::Slot::empty || communicator.session->is_revoked()) return true;
    if (world.lost_count() == 0 || !world.is_lost(world_rank)) return false;
    if (!communicator.lanes->lanes.has_ended(member)) return false;
    slot = look();
    return true;
  });
  return slot;
}

// True: the slot is full. False: the lanes are over.
template <typename Look>
bool await(Communicator& communicator, int member, const Look& look) {
  Lanes::Slot slot = look();
  if (slot == Lanes::Slot::full) [[likely]]
    return true;
  const int spins = World::current()->is_oversubscribed() ? 1 : spins_max;
  for (int i = 1; i < spins && slot == Lanes::Slot::empty; ++i) {
    relax();
    slot = look();
  }
  if (slot == Lanes::Slot::empty) slot = drive_until(communicator, member, look);
  if (slot == Lanes::Slot::full) return true;
  communicator.lanes->is_over = true;
  return false;
}

bool await_everybody(Communicator& communicator) {
  Lanes& lanes = communicator.lanes->lanes;
  for (int member = 0; member < lanes.size(); ++member)
    if (member != lanes.self() &&
        !await(communicator, member, [&] { return lanes.look_at_meeting(member); }))
      return false;
  return true;
}

bool meet(Communicator& communicator) {
  Lanes& lanes = communicator.lanes->lanes;
  lanes.enter(nullptr, 0);
  if (!await_everybody(communicator)) return false;
  lanes.end_meeting();
  return true;
}

void note_last(Communicator& communicator, int root) {
  communicator.lanes->is_last = true;
  communicator.lanes->last_root = root;
}

// The broadcast itself is done even where the meeting behind it is over.
void end_broadcast(Communicator& communicator, int root) {
  note_last(communicator, root);
  if (communicator.lanes->lanes.end_broadcast()) meet(communicator);
}

// In the grouping of the binomial tree over all, as reductions of ours have it: partial results of
// 1, 2, 4, ... members, two of the same size combined as soon as they are there.
void combine_all(const Lanes& lanes, MpiCombiner& combiner, std::size_t bytes, void* into) {
  alignas(64) std::array<std::array<std::byte, Lanes::meeting_bytes_max>, 5> partials;
  static_assert(ranks_max <= 16);  // log2 and one
  std::array<int, 5> members{};
  std::size_t depth = 0;
  const auto merge = [&] {
    --depth;
    combiner.combine({partials[depth - 1].data(), bytes}, {partials[depth].data(), bytes});
    std::memcpy(partials[depth - 1].data(), partials[depth].data(), bytes);
    members[depth - 1] += members[depth];
  };
  for (int member = 0; member < lanes.size(); ++member) {
    std::memcpy(partials[depth].data(), lanes.contribution(member), bytes);
    members[depth++] = 1;
    while (depth > 1 && members[depth - 1] == members[depth - 2]) merge();
  }
  while (depth > 1) merge();
  std::memcpy(into, partials[0].data(), bytes);
}

bool meet_and_combine(Communicator& communicator, const void* input, void* recvbuf,
                      const Layout& layout, MPI_Op op, int& code) {
  Lanes& lanes = communicator.lanes->lanes;
  lanes.enter(input, layout.packed_bytes);
  if (!await_everybody(communicator)) return false;
  MpiCombiner combiner(op, layout);
  combine_all(lanes, combiner, layout.packed_bytes, recvbuf);
  lanes.end_meeting();
  note_last(communicator, -1);
  code = combiner.code();
  return true;
}

// Null: the call is not to be taken at the head of its wrapper.
Communicator* at_head(World* world, MPI_Comm comm) {
  if (world == nullptr || comm == MPI_COMM_NULL || world->lost_count() != 0 || is_any_revoked())
    return nullptr;
  Communicator* communicator = communicator_of(comm);
  const CommunicatorLanes* lanes = communicator->lanes.get();
  if (lanes == nullptr || lanes->is_over || communicator->session == nullptr ||
      communicator->stand_ins != nullptr || communicator->session->has_tasks())
    return nullptr;
  return communicator;
}

void count(World& world, Communicator& communicator, const char* name) {
  entering(name);
  world.report().count_call(name);
  communicator.calls.next(name);
}

bool are_wanted(const CollectiveCall& call, Kind kind) {
  const Options& options = World::current()->options();
  const Communicator& communicator = call.communicator();
  return !communicator.remade && is_choice_free(communicator, kind) &&
         communicator.collectives.value_or(options.collectives) == Collectives::automatic;
}

struct Opened {
  std::unique_ptr<runtime::ShmSegment> memory;
  std::array<char, 64> name{};
};

// The lowest member makes the memory; where it cannot, its name is empty.
Opened make_memory(int ranks) {
  Opened made;
  try {
    made.memory =
        runtime::ShmSegment::create({static_cast<std::uint32_t>(ranks), 4096, Lanes::area_bytes});
    const std::string name = made.memory->name();
    if (name.size() < made.name.size()) std::copy(name.begin(), name.end(), made.name.begin());
  } catch (const std::system_error&) {
    made.memory.reset();
  }
  return made;
}

std::unique_ptr<runtime::ShmSegment> attach_to(const char* name) {
  try {
    return runtime::ShmSegment::attach(name);
  } catch (const std::system_error&) {
    return nullptr;
  }
}

void open(CollectiveCall& call) {
  runtime::Session& session = call.session();
  const bool is_maker = call.rank() == 0;
  Opened opened;
  if (is_maker) opened = make_memory(call.size());
  call.note_before(session.broadcast(
      call.lock(), broadcast_spec(call.communicator()), 0, std::as_bytes(std::span(opened.name)),
      [&](std::span<const std::byte> name) {
        if (!is_maker) std::memcpy(opened.name.data(), name.data(), opened.name.size());
      }));
  if (!is_maker && opened.name[0] != 0) opened.memory = attach_to(opened.name.data());
  std::vector<std::byte*> areas;
  for (int member = 0; opened.memory && member < call.size(); ++member)
    areas.push_back(opened.memory->arena(static_cast<std::uint32_t>(member)));
  const bool has_them = opened.memory != nullptr && opened.name[0] != 0 &&
                        !has_lost_member(*World::current(), call.communicator());
  auto lanes = std::unique_ptr<CommunicatorLanes>(new CommunicatorLanes{
      std::move(opened.memory), Lanes(call.rank(), std::move(areas)),
      are_wanted(call, Kind::broadcast), are_wanted(call, Kind::allreduce), !has_them});
  if (has_them) lanes->lanes.sign();
  bool has_everybody = false;
  BitwiseAnd all;
  call.note_before(session.allreduce(
      call.lock(), reduce_spec(session, 1), std::as_bytes(std::span(&has_them, 1)), all,
      [&](std::span<const std::byte> result) { has_everybody = result[0] != std::byte{0}; }));
  if (!has_everybody) lanes->is_over = true;
  if (is_maker && lanes->memory) lanes->memory->unlink();
  call.communicator().lanes = std::move(lanes);
}

// Its lock is free, and what it has to do of its own was done.
Communicator& crossing(CollectiveCall& call) {
  call.lock().unlock();
  return call.communicator();
}

}  // namespace

Taken maybe_broadcast_by_lanes(void* buffer, int count, MPI_Datatype datatype, int root,
                               MPI_Comm comm) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr) return Taken::no;
  const Layout layout = layout_of(datatype, count);
  Lanes& lanes = communicator->lanes->lanes;
  const std::size_t bytes = layout.packed_bytes;
  if (!layout.is_dense || bytes == 0 || bytes > Lanes::broadcast_bytes_max || root < 0 ||
      root >= lanes.size() || !communicator->lanes->carries_broadcasts)
    return Taken::no;
  shim::count(*world, *communicator, "bcast");
  if (root == lanes.self()) {
    lanes.send(buffer, bytes);
  } else {
    if (!await(*communicator, root, [&] { return lanes.look_at_broadcast(root, bytes); }))
      return Taken::over;
    lanes.receive(root, buffer, bytes);
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
  if (!layout.is_dense || layout.packed_bytes == 0 ||
      layout.packed_bytes > Lanes::meeting_bytes_max)
    return Taken::no;
  shim::count(*world, *communicator, "allreduce");
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  return meet_and_combine(*communicator, input, recvbuf, layout, op, code) ? Taken::done
                                                                           : Taken::over;
}

Taken maybe_barrier_by_lanes(MPI_Comm comm) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->lanes->carries_reductions) return Taken::no;
  count(*world, *communicator, "barrier");
  if (!meet(*communicator)) return Taken::over;
  note_last(*communicator, -1);
  return Taken::done;
}

// Whether the library may still carry anything is not asked: a member that was interrupted in one
// of its calls knows more of that than one that was through before. What the slots say all know.
bool goes_by_lanes(CollectiveCall& call, Kind kind, std::size_t bytes, MPI_Op op) {
  if (call.session().has_tasks()) call.lock();
  Communicator& communicator = call.communicator();
  if (call.session().is_revoked() || !call.session().is_on_one_host() || call.size() > ranks_max ||
      !are_wanted(call, kind))
    return false;
  if (communicator.lanes == nullptr) {
    if (communicator.calls_for_lanes++ < calls_before_lanes) return false;
    open(call);
  }
  if (communicator.lanes->is_over) return false;
  if (kind == Kind::barrier) return true;
  if (kind == Kind::allreduce && !is_predefined(op)) return false;
  return bytes > 0 &&
         bytes <= (kind == Kind::broadcast ? Lanes::broadcast_bytes_max : Lanes::meeting_bytes_max);
}

bool broadcast_by_lanes(CollectiveCall& call, void* buffer, const Layout& layout, int root) {
  Communicator& communicator = crossing(call);
  Lanes& lanes = communicator.lanes->lanes;
  const std::size_t bytes = layout.packed_bytes;
  if (root == lanes.self()) {
    if (has_lost_member(*World::current(), communicator)) {
      lanes.leave_broadcast(bytes);
      communicator.lanes->is_over = true;
      return false;
    }
    std::vector<std::byte> storage;
    lanes.send(packed(buffer, layout, storage).data(), bytes);
  } else {
    if (!await(communicator, root, [&] { return lanes.look_at_broadcast(root, bytes); }))
      return false;
    std::array<std::byte, Lanes::broadcast_bytes_max> payload;
    lanes.receive(root, payload.data(), bytes);
    unpack({payload.data(), bytes}, buffer, layout);
  }
  end_broadcast(communicator, root);
  return true;
}

// Who knows of a loss does not enter a meeting.
bool may_enter(Communicator& communicator) {
  if (!has_lost_member(*World::current(), communicator)) return true;
  communicator.lanes->lanes.leave_meeting();
  communicator.lanes->is_over = true;
  return false;
}

bool allreduce_by_lanes(CollectiveCall& call, const void* input, void* recvbuf,
                        const Layout& layout, MPI_Op op, int& code) {
  Communicator& communicator = crossing(call);
  return may_enter(communicator) &&
         meet_and_combine(communicator, input, recvbuf, layout, op, code);
}

bool meet_at_end(Communicator& communicator, MPI_Comm native) {
  if (communicator.lanes != nullptr && !communicator.lanes->is_over) return meet(communicator);
  return !is_interruption(PMPI_Barrier(native));
}

void stay_away_from_end(Communicator& communicator) {
  if (communicator.lanes == nullptr || communicator.lanes->is_over) return;
  communicator.lanes->lanes.leave_meeting();
  communicator.lanes->is_over = true;
}

bool barrier_by_lanes(CollectiveCall& call) {
  Communicator& communicator = crossing(call);
  if (!may_enter(communicator) || !meet(communicator)) return false;
  note_last(communicator, -1);
  return true;
}

}  // namespace resprout::shim
