#include "mpi/carriers/lanes/gathers.hpp"

#include <algorithm>

#include "mpi/carriers/lanes/crossing.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::LaneWord;
using Step = protocols::Lanes::Step;
constexpr std::size_t slot_bytes_max = runtime::LaneMemory::broadcast_bytes_max;
static_assert(slot_bytes_max <= Given::bytes_each);

bool fits_slot(std::size_t bytes) { return bytes > 0 && bytes <= slot_bytes_max; }

// False: the lanes are over. `code`: what else the call comes to. REQUIRES: it gives or reads.
inline bool run_gather(Communicator& communicator, const Share& share, const void* mine,
                       std::size_t bytes, Given& given, int& code) {
  CommunicatorLanes& lanes = *communicator.lanes;
  given.bytes = bytes;
  lanes.missing.seen_ns = 0;
  lanes.machine.start_gather(rank_at(0), rank_at(share.end), share.gives);
  const bool reads = share.end > (index(lanes.members->self()) == 0 ? 1 : 0);
  if (share.gives) write(lanes, mine, bytes);
  if (reads && !await_all(communicator, bytes)) {
    if (!lanes.is_passed_by) return false;
    give_up_meeting(communicator);
    note_last(communicator, -1);
    code = MPI_ERR_TRUNCATE;
    return true;
  }
  if (reads)
    take_given(lanes, lanes.machine.poll_read(), share.end, mine, given);
  else if (share.end != 0)
    take_given(lanes, {}, share.end, mine, given);
  end_broadcast(communicator, -1);
  lanes.missing.in_last = given.missing;
  if (!given.fits) code = MPI_ERR_TRUNCATE;
  return true;
}

// Of a call at the head of its wrapper that is done. `code`: what it returns.
void finish_at_head(Communicator& communicator, MPI_Comm comm, const char* name, const Given& given,
                    int& code) {
  if (given.missing == 0 && code == MPI_SUCCESS) [[likely]]
    return;
  if (given.missing == 0) {
    code = finish(comm, name, code);
    return;
  }
  const int last_root = communicator.lanes->last_root;
  CollectiveCall call(comm, name, CollectiveCall::Lock::later, CollectiveCall::Entry::again);
  note_last(communicator, last_root);
  communicator.lanes->missing.in_last = given.missing;
  code = call.finish(outcome_of(*communicator.lanes, given), code);
}

// Null: the call does not go by a gather at the head of its wrapper.
Communicator* gathers_at_head(World* world, MPI_Comm comm) {
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->lanes->carries_gathers ||
      !communicator->lanes->machine.can_gather())
    return nullptr;
  return communicator;
}

int self_of(const CommunicatorLanes& lanes) { return index(lanes.members->self()); }

// In the grouping of reductions over trees. `into` is dense.
int combine_given(const Given& given, MPI_Op op, const Layout& layout, void* into) {
  MpiCombiner combiner(op, layout);
  combine(given, 0, given.count, combiner, {static_cast<std::byte*>(into), given.bytes});
  return combiner.code();
}

// From the lowest on. `into` is dense, and stays as it is if nobody has given anything.
int fold_given(Given& given, MPI_Op op, const Layout& layout, void* into) {
  if (given.count == 0) return MPI_SUCCESS;
  MpiCombiner combiner(op, layout);
  for (int place = 1; place < given.count; ++place)
    combiner.combine(given.of(place - 1), given.of(place));
  std::memcpy(into, given.of(given.count - 1).data(), given.bytes);
  return combiner.code();
}

}  // namespace

void take_given(const CommunicatorLanes& lanes, const protocols::LaneSlot& slot, int end,
                const void* mine, Given& given) {
  const int self = index(lanes.members->self());
  for (int member = 0; member < end; ++member) {
    given.members[static_cast<std::size_t>(given.count)] = static_cast<std::uint8_t>(member);
    std::byte* const into = given.of(given.count).data();
    if (member == self) {
      std::memcpy(into, mine, given.bytes);
    } else if (lanes.slots.look(member, slot, given.bytes) == LaneWord::full) [[likely]] {
      if (lanes.slots.bytes_of(member, slot, given.bytes) == given.bytes)
        lanes.slots.read(member, slot, into, given.bytes);
      else
        given.fits = false;
    } else if (lanes.slots.look(member, slot, elsewhere(given.bytes)) == LaneWord::full) {
      given.fits = false;
    } else {
      given.missing |= std::uint64_t{1} << member;
      continue;
    }
    ++given.count;
  }
}

runtime::Outcome outcome_of(CommunicatorLanes& lanes, const Given& given) {
  runtime::Outcome outcome = delivered();
  if (given.missing == 0) return outcome;
  const bool is_new = (given.missing & ~lanes.missing.in_any) != 0;
  lanes.missing.in_any |= given.missing;
  outcome.is_touched = is_new || World::current()->options().on_loss == OnLoss::error;
  if (lanes.missing.seen_ns != 0) outcome.recovery_ns = wall_clock_ns() - lanes.missing.seen_ns;
  for (int member = 0; member < lanes.slots.size(); ++member)
    if ((given.missing >> member & 1) != 0)
      outcome.lost.push_back(lanes.members->world_rank(rank_at(member)));
  return outcome;
}

Share share_to(const CommunicatorLanes& lanes, Rank root) {
  const bool is_root = root == lanes.members->self();
  return {is_root ? lanes.slots.size() : 0, !is_root};
}
Share share_of_prefix(const CommunicatorLanes& lanes, bool is_inclusive) {
  const int self = self_of(lanes);
  return {self + (is_inclusive ? 1 : 0), self + 1 < lanes.slots.size()};
}

Share share_of_gather(const CollectiveCall& call, int root) {
  const CommunicatorLanes& lanes = *call.communicator().lanes;
  return share_to(lanes, lanes.member(root));
}
Share share_of_scan(const CollectiveCall& call, bool is_inclusive) {
  return share_of_prefix(*call.communicator().lanes, is_inclusive);
}

bool can_gather(const CommunicatorLanes& lanes, std::size_t bytes) {
  return lanes.carries_gathers && lanes.machine.can_gather() && fits_slot(bytes);
}
bool goes_by_gather(const CollectiveCall& call, std::size_t bytes) {
  return can_gather(*call.communicator().lanes, bytes);
}

std::optional<int> gather_by_lanes(CollectiveCall& call, const Share& share,
                                   std::span<const std::byte> mine, Given& given,
                                   std::vector<Brought>& all, runtime::Outcome& outcome) {
  CommunicatorLanes& lanes = crossing(call);
  int code = MPI_SUCCESS;
  if (!run_gather(call.communicator(), share, mine.data(), mine.size(), given, code))
    return std::nullopt;
  for (int place = 0; code == MPI_SUCCESS && place < given.count; ++place) {
    const Rank member = rank_at(given.members[static_cast<std::size_t>(place)]);
    all.push_back({lanes.members->comm_rank(member), given.of(place)});
  }
  outcome = outcome_of(*call.communicator().lanes, given);
  return code;
}

std::optional<int> reduce_by_lanes(CollectiveCall& call, const Reduction& reduction,
                                   const void* sendbuf, void* recvbuf, int root) {
  const Layout& layout = reduction.layout();
  const MPI_Op op = layout.is_dense ? reduction.op() : MPI_OP_NULL;
  const bool is_root = call.rank() == root;
  if (sendbuf == MPI_IN_PLACE && !is_root) return std::nullopt;
  if (!goes_by_lanes(call, Kind::reduce, layout.packed_bytes, op)) return std::nullopt;
  CommunicatorLanes& lanes = *call.communicator().lanes;
  if (lanes.member(root) == no_rank) return std::nullopt;
  const auto* input =
      static_cast<const std::byte*>(is_root && sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
  if (!goes_by_gather(call, layout.packed_bytes)) {
    int code = MPI_SUCCESS;
    if (!allreduce_by_lanes(call, input, is_root ? recvbuf : nullptr, layout, reduction.op(), code))
      return std::nullopt;
    return call.finish(delivered(), code);
  }
  Given given;
  std::vector<Brought> all;
  runtime::Outcome outcome;
  auto code = gather_by_lanes(call, share_of_gather(call, root), {input, layout.packed_bytes},
                              given, all, outcome);
  if (!code) return std::nullopt;
  if (is_root && *code == MPI_SUCCESS) code = combine_given(given, op, layout, recvbuf);
  return call.finish(outcome, *code);
}

Taken maybe_gather_by_lanes(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = gathers_at_head(world, comm);
  if (communicator == nullptr) return Taken::no;
  const CommunicatorLanes& lanes = *communicator->lanes;
  const Rank root_member = lanes.member(root);
  const Share share = share_to(lanes, root_member);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  if (root_member == no_rank || (share.gives && is_in_place)) return Taken::no;
  const Pieces all(recvbuf, recvcount, recvtype);
  const bool are_valid = share.gives || is_valid_buffer(recvcount, recvtype);
  if (!are_valid || (!is_in_place && !is_valid_buffer(sendcount, sendtype))) return Taken::no;
  const Piece mine = is_in_place ? all.of(root) : Piece::of(sendbuf, sendcount, sendtype);
  if (!mine.layout.is_dense || !fits_slot(mine.layout.packed_bytes)) return Taken::no;
  const int ranks = communicator->session->everybody().size();
  if (!share.gives) expect_counts(sendbuf, recvbuf, recvcount, recvtype, ranks);
  count(*world, *communicator, "gather");
  {
    const InsideCall inside({"gather", comm, CurrentCall::Needs::members});
    Given given;
    if (!run_gather(*communicator, share, mine.buffer, mine.layout.packed_bytes, given, code))
      return Taken::over;
    for (int place = 0; code == MPI_SUCCESS && place < given.count; ++place) {
      const Rank member = rank_at(given.members[static_cast<std::size_t>(place)]);
      if (is_in_place && member == root_member) continue;
      code = take_block(given.of(place), all.of(lanes.members->comm_rank(member)));
    }
    finish_at_head(*communicator, comm, "gather", given, code);
  }
  return Taken::done;
}

Taken maybe_reduce_by_lanes(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, int root, MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = gathers_at_head(world, comm);
  if (communicator == nullptr || !is_predefined(op)) return Taken::no;
  const Layout layout = layout_of(datatype, count);
  const Rank root_member = communicator->lanes->member(root);
  const Share share = share_to(*communicator->lanes, root_member);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  if (!layout.is_dense || !fits_slot(layout.packed_bytes) || root_member == no_rank ||
      (share.gives && is_in_place))
    return Taken::no;
  shim::count(*world, *communicator, "reduce");
  const InsideCall inside({"reduce", comm, CurrentCall::Needs::members});
  Given given;
  const void* input = is_in_place ? recvbuf : sendbuf;
  if (!run_gather(*communicator, share, input, layout.packed_bytes, given, code))
    return Taken::over;
  if (given.count != 0 && code == MPI_SUCCESS) code = combine_given(given, op, layout, recvbuf);
  finish_at_head(*communicator, comm, "reduce", given, code);
  return Taken::done;
}

Taken maybe_scan_by_lanes(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                          MPI_Op op, bool is_inclusive, MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = gathers_at_head(world, comm);
  if (communicator == nullptr || !is_predefined(op)) return Taken::no;
  const Layout layout = layout_of(datatype, count);
  if (!layout.is_dense || !fits_slot(layout.packed_bytes)) return Taken::no;
  const char* const name = is_inclusive ? "scan" : "exscan";
  shim::count(*world, *communicator, name);
  const InsideCall inside({name, comm, CurrentCall::Needs::members});
  Given given;
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const Share share = share_of_prefix(*communicator->lanes, is_inclusive);
  if (!run_gather(*communicator, share, input, layout.packed_bytes, given, code))
    return Taken::over;
  if (code == MPI_SUCCESS) code = fold_given(given, op, layout, recvbuf);
  finish_at_head(*communicator, comm, name, given, code);
  return Taken::done;
}

}  // namespace resprout::shim
