#include "mpi/carriers/shared_slots/gathers.hpp"

#include <algorithm>

#include "mpi/carriers/shared_slots/contributions.hpp"
#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::SlotWord;
using Step = protocols::SharedSlots::Step;
constexpr std::size_t slot_bytes_max = runtime::SlotMemory::broadcast_bytes_max;
static_assert(slot_bytes_max <= Given::bytes_each);

bool fits_slot(std::size_t bytes) { return bytes > 0 && bytes <= slot_bytes_max; }

// How many members the first payload is of, if it is a sum; else none. What is not in it can be
// read from here on.
int take_prefix(CommunicatorSlots& shared_slots, int end, Given& given) {
  const int first = read_prefix(shared_slots, given.slot, end, given.of(0));
  if (first != 0) {
    given.members[0] = static_cast<MemberByte>(first - 1);
    given.count = 1;
  }
  know_areas(shared_slots, first, end);
  return first;
}

// False: the shared slots are over. `code`: what else the call comes to. `use`: what is done with
// what was given, before slots that were read may be used again. REQUIRES: it gives or reads.
template <typename Use>
bool run_gather(Communicator& communicator, const Share& share, const void* mine, std::size_t bytes,
                Given& given, int& code, const Use& use) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  given.bytes = bytes;
  shared_slots.missing.seen_ns = 0;
  shared_slots.machine.start_gather(rank_at(0), rank_at(share.end), share.gives);
  const bool reads = share.end > (index(shared_slots.members->self()) == 0 ? 1 : 0);
  const bool is_prefix = share.is_prefix && reads;
  if (share.gives) write(shared_slots, mine, bytes);
  if (reads && !(is_prefix ? await_prefix(communicator, bytes) : await_all(communicator, bytes))) {
    if (!shared_slots.is_passed_by) return false;
    give_up_rendezvous(communicator);
    note_last(communicator, -1);
    code = MPI_ERR_TRUNCATE;
    return true;
  }
  if (reads) given.slot = shared_slots.machine.poll_read();
  const int first = is_prefix ? take_prefix(shared_slots, share.end, given) : 0;
  if (share.end != 0) take_given(shared_slots, given.slot, first, share.end, mine, given);
  use();
  end_broadcast(communicator, -1);
  shared_slots.missing.in_last = given.missing;
  if (!given.fits) code = MPI_ERR_TRUNCATE;
  return true;
}
constexpr auto later = [] {};

// Null: the call does not go by a gather at the head of its wrapper.
Communicator* gathers_at_head(World* world, MPI_Comm comm) {
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->shared_slots->carries_gathers ||
      !communicator->shared_slots->machine.can_gather())
    return nullptr;
  return communicator;
}

int self_of(const CommunicatorSlots& shared_slots) { return index(shared_slots.members->self()); }

// In the grouping of reductions over trees. `into` is dense.
int combine_given(const Given& given, MPI_Op op, const Layout& layout, void* into) {
  MpiCombiner combiner(op, layout);
  combine(given, 0, given.count, combiner, {static_cast<std::byte*>(into), given.bytes});
  return combiner.code();
}

// From the lowest on. `into` is dense, and stays as it is if nobody has given anything. Of many
// members the records of those below are written, if nobody is missing.
int fold_given(const CommunicatorSlots& shared_slots, const Share& share, Given& given, MPI_Op op,
               const Layout& layout, void* into) {
  if (given.count == 0 || !given.fits) return MPI_SUCCESS;
  const bool records = share.is_prefix && given.missing.none();
  MpiCombiner combiner(op, layout);
  for (int place = 1; place < given.count; ++place) {
    combiner.combine(given.of(place - 1), given.of(place));
    if (records)
      write_prefix(shared_slots, given.slot, given.members[static_cast<std::size_t>(place)],
                   given.of(place));
  }
  std::memcpy(into, given.of(given.count - 1).data(), given.bytes);
  return combiner.code();
}

}  // namespace

void take_given(const CommunicatorSlots& shared_slots, const protocols::SharedSlot& slot, int first,
                int end, const void* mine, Given& given) {
  const int self = index(shared_slots.members->self());
  for (int member = first; member < end; ++member) {
    given.members[static_cast<std::size_t>(given.count)] = static_cast<MemberByte>(member);
    std::byte* const into = given.of(given.count).data();
    if (member == self) {
      std::memcpy(into, mine, given.bytes);
    } else if (shared_slots.slots.look(member, slot, given.bytes) == SlotWord::full) [[likely]] {
      if (shared_slots.slots.bytes_of(member, slot, given.bytes) == given.bytes)
        shared_slots.slots.read(member, slot, into, given.bytes);
      else
        given.fits = false;
    } else if (shared_slots.slots.look(member, slot, elsewhere(given.bytes)) == SlotWord::full) {
      given.fits = false;
    } else {
      given.missing.set(static_cast<std::size_t>(member));
      continue;
    }
    ++given.count;
  }
}

Share share_to(const CommunicatorSlots& shared_slots, Rank root) {
  const bool is_root = root == shared_slots.members->self();
  return {is_root ? shared_slots.slots.size() : 0, !is_root};
}
Share share_of_prefix(const CommunicatorSlots& shared_slots, bool is_inclusive) {
  const int self = self_of(shared_slots);
  const bool is_prefix = shared_slots.machine.group_size() < shared_slots.slots.size();
  return {self + (is_inclusive ? 1 : 0), self + 1 < shared_slots.slots.size(), is_prefix};
}

Share share_of_gather(const CollectiveCall& call, int root) {
  const CommunicatorSlots& shared_slots = *call.communicator().shared_slots;
  return share_to(shared_slots, shared_slots.member(root));
}
Share share_of_scan(const CollectiveCall& call, bool is_inclusive) {
  return share_of_prefix(*call.communicator().shared_slots, is_inclusive);
}

bool can_gather(const CommunicatorSlots& shared_slots, std::size_t bytes) {
  return shared_slots.carries_gathers && shared_slots.machine.can_gather() && fits_slot(bytes);
}
bool goes_by_gather(const CollectiveCall& call, std::size_t bytes) {
  return can_gather(*call.communicator().shared_slots, bytes);
}

std::optional<int> gather_by_shared_slots(CollectiveCall& call, const Share& share,
                                          std::span<const std::byte> mine, Given& given,
                                          std::vector<Brought>& all, runtime::Outcome& outcome) {
  CommunicatorSlots& shared_slots = crossing(call);
  int code = MPI_SUCCESS;
  const Share all_of_it{share.end, share.gives};
  if (!run_gather(call.communicator(), all_of_it, mine.data(), mine.size(), given, code, later))
    return std::nullopt;
  for (int place = 0; code == MPI_SUCCESS && place < given.count; ++place) {
    const Rank member = rank_at(given.members[static_cast<std::size_t>(place)]);
    all.push_back({shared_slots.members->comm_rank(member), given.of(place)});
  }
  outcome = outcome_of(*call.communicator().shared_slots, given.missing);
  return code;
}

std::optional<int> reduce_by_shared_slots(CollectiveCall& call, const Reduction& reduction,
                                          const void* sendbuf, void* recvbuf, int root) {
  const Layout& layout = reduction.layout();
  const MPI_Op op = layout.is_dense ? reduction.op() : MPI_OP_NULL;
  const bool is_root = call.rank() == root;
  if (sendbuf == MPI_IN_PLACE && !is_root) return std::nullopt;
  if (!goes_by_shared_slots(call, Kind::reduce, layout.packed_bytes, op)) return std::nullopt;
  CommunicatorSlots& shared_slots = *call.communicator().shared_slots;
  if (shared_slots.member(root) == no_rank) return std::nullopt;
  const auto* input =
      static_cast<const std::byte*>(is_root && sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
  if (!goes_by_gather(call, layout.packed_bytes)) {
    int code = MPI_SUCCESS;
    if (!allreduce_by_shared_slots(call, input, is_root ? recvbuf : nullptr, layout, reduction.op(),
                                   code))
      return std::nullopt;
    return call.finish(outcome_of_last(shared_slots), code);
  }
  Given given;
  std::vector<Brought> all;
  runtime::Outcome outcome;
  auto code = gather_by_shared_slots(call, share_of_gather(call, root),
                                     {input, layout.packed_bytes}, given, all, outcome);
  if (!code) return std::nullopt;
  if (is_root && *code == MPI_SUCCESS) code = combine_given(given, op, layout, recvbuf);
  return call.finish(outcome, *code);
}

Taken maybe_gather_by_shared_slots(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = gathers_at_head(world, comm);
  if (communicator == nullptr) return Taken::no;
  const CommunicatorSlots& shared_slots = *communicator->shared_slots;
  const Rank root_member = shared_slots.member(root);
  const Share share = share_to(shared_slots, root_member);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  if (root_member == no_rank || (share.gives && is_in_place)) return Taken::no;
  const Pieces all(recvbuf, recvcount, recvtype);
  const bool are_valid =
      share.gives || (recvbuf != MPI_IN_PLACE && is_valid_buffer(recvcount, recvtype));
  if (!are_valid || (!is_in_place && !is_valid_buffer(sendcount, sendtype))) return Taken::no;
  const Piece mine = is_in_place ? all.of(root) : Piece::of(sendbuf, sendcount, sendtype);
  if (!mine.layout.is_dense || !fits_slot(mine.layout.packed_bytes)) return Taken::no;
  const int ranks = communicator->session->everybody().size();
  if (!share.gives) expect_counts(sendbuf, recvbuf, recvcount, recvtype, ranks);
  count(*world, *communicator, "gather");
  {
    const InsideCall inside({"gather", comm, CurrentCall::Needs::members});
    Given given;
    const std::size_t bytes = mine.layout.packed_bytes;
    if (!run_gather(*communicator, share, mine.buffer, bytes, given, code, later))
      return Taken::over;
    for (int place = 0; code == MPI_SUCCESS && place < given.count; ++place) {
      const Rank member = rank_at(given.members[static_cast<std::size_t>(place)]);
      if (is_in_place && member == root_member) continue;
      code = take_block(given.of(place), all.of(shared_slots.members->comm_rank(member)));
    }
    finish_at_head(*communicator, comm, "gather", given.missing, code);
  }
  return Taken::done;
}

Taken maybe_reduce_by_shared_slots(const void* sendbuf, void* recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                   int& code) {
  World* world = World::current();
  Communicator* communicator = gathers_at_head(world, comm);
  if (communicator == nullptr || !is_predefined(op)) return Taken::no;
  const Layout layout = layout_of(datatype, count);
  const Rank root_member = communicator->shared_slots->member(root);
  const Share share = share_to(*communicator->shared_slots, root_member);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  if (!layout.is_dense || !fits_slot(layout.packed_bytes) || root_member == no_rank ||
      (share.gives && is_in_place))
    return Taken::no;
  shim::count(*world, *communicator, "reduce");
  const InsideCall inside({"reduce", comm, CurrentCall::Needs::members});
  Given given;
  const void* input = is_in_place ? recvbuf : sendbuf;
  if (!run_gather(*communicator, share, input, layout.packed_bytes, given, code, later))
    return Taken::over;
  if (given.count != 0 && code == MPI_SUCCESS) code = combine_given(given, op, layout, recvbuf);
  finish_at_head(*communicator, comm, "reduce", given.missing, code);
  return Taken::done;
}

Taken maybe_scan_by_shared_slots(const void* sendbuf, void* recvbuf, int count,
                                 MPI_Datatype datatype, MPI_Op op, bool is_inclusive, MPI_Comm comm,
                                 int& code) {
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
  const CommunicatorSlots& shared_slots = *communicator->shared_slots;
  const Share share = share_of_prefix(shared_slots, is_inclusive);
  const auto fold = [&] { code = fold_given(shared_slots, share, given, op, layout, recvbuf); };
  if (!run_gather(*communicator, share, input, layout.packed_bytes, given, code, fold))
    return Taken::over;
  finish_at_head(*communicator, comm, name, given.missing, code);
  return Taken::done;
}

}  // namespace resprout::shim
