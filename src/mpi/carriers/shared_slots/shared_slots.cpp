#include "mpi/carriers/shared_slots/shared_slots.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/shared_slots/contributions.hpp"
#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using runtime::SlotMemory;
using Step = protocols::SharedSlots::Step;

// A rendezvous to which all who live bring something; `recvbuf`: null where nobody wants the
// result.
bool meet_and_combine(Communicator& communicator, const void* input, void* recvbuf,
                      const Layout& layout, MPI_Op op, int& code) {
  CommunicatorSlots& shared_slots = *communicator.shared_slots;
  if (!write(shared_slots, input, layout.packed_bytes)) return false;
  const Summing summing{op, layout};
  const bool are_there = await_all(communicator, 0, &summing);
  if (!are_there && !shared_slots.is_passed_by) return false;
  note_last(communicator, -1);
  code = MPI_ERR_TRUNCATE;
  if (!are_there) give_up_rendezvous(communicator);
  if (!are_there) return true;
  const bool is_short = shared_slots.machine.is_short();
  const Contributions all{shared_slots.slots, shared_slots.machine.poll_read(),
                          layout.packed_bytes};
  if (is_short) [[unlikely]]
    shared_slots.missing.in_last = missing_in(shared_slots, all.slot);
  if (recvbuf == nullptr)
    code = MPI_SUCCESS;
  else if (is_short) [[unlikely]]
    code = combine_alike(SomeContributions(all, shared_slots.missing.in_last), layout, op, recvbuf);
  else if (shared_slots.machine.has_groups())
    code = combine_groups(shared_slots, all.slot, summing, recvbuf);
  else
    code = combine_alike(all, layout, op, recvbuf);
  return true;
}

}  // namespace

Taken maybe_broadcast_by_shared_slots(void* buffer, int count, MPI_Datatype datatype, int root,
                                      MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr) return Taken::no;
  const Layout layout = layout_of(datatype, count);
  CommunicatorSlots& shared_slots = *communicator->shared_slots;
  const std::size_t bytes = layout.packed_bytes;
  const Rank root_member = shared_slots.member(root);
  if (!layout.is_dense || bytes == 0 || bytes > SlotMemory::broadcast_bytes_max ||
      root_member == no_rank || !shared_slots.carries_broadcasts)
    return Taken::no;
  shim::count(*world, *communicator, "bcast");
  const InsideCall inside({"bcast", comm, CurrentCall::Needs::members});
  std::size_t there = bytes;
  if (!run_broadcast(*communicator, root, root_member, false, buffer, there)) return Taken::over;
  if (there > bytes) code = MPI_ERR_TRUNCATE;
  return Taken::done;
}

Taken maybe_scatter_by_shared_slots(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                    MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->shared_slots->carries_scatters) return Taken::no;
  CommunicatorSlots& shared_slots = *communicator->shared_slots;
  const Rank root_member = shared_slots.member(root);
  const bool is_root = root_member == shared_slots.members->self();
  const bool is_in_place = recvbuf == MPI_IN_PLACE;
  if (root_member == no_rank || (is_in_place && !is_root)) return Taken::no;
  const Pieces all(sendbuf, sendcount, sendtype);
  const bool is_given = sendbuf != MPI_IN_PLACE && is_valid_buffer(sendcount, sendtype);
  if ((is_root && !is_given) || (!is_in_place && !is_valid_buffer(recvcount, recvtype)))
    return Taken::no;
  const Piece mine = is_in_place ? all.of(root) : Piece::of(recvbuf, recvcount, recvtype);
  const int ranks = communicator->session->everybody().size();
  const std::size_t each = mine.layout.packed_bytes;
  const std::size_t bytes = each * static_cast<std::size_t>(ranks);
  if (bytes == 0 || bytes > SlotMemory::broadcast_bytes_max) return Taken::no;
  std::array<std::byte, SlotMemory::broadcast_bytes_max> row;
  for (int rank = 0; is_root && rank < ranks; ++rank) {
    const Piece piece = all.of(rank);
    if (!piece.layout.is_dense || piece.layout.packed_bytes != each) return Taken::no;
    std::memcpy(row.data() + each * static_cast<std::size_t>(rank), piece.buffer, each);
  }
  shim::count(*world, *communicator, "scatter");
  const InsideCall inside({"scatter", comm, CurrentCall::Needs::members});
  std::size_t there = bytes;
  if (!run_broadcast(*communicator, root, root_member, false, row.data(), there))
    return Taken::over;
  const int self = shared_slots.members->comm_rank(shared_slots.members->self());
  if (there != bytes)
    code = MPI_ERR_TRUNCATE;
  else if (!is_in_place)
    code = take_block({row.data() + each * static_cast<std::size_t>(self), each}, mine);
  return Taken::done;
}

Taken maybe_allreduce_by_shared_slots(const void* sendbuf, void* recvbuf, int count,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->shared_slots->carries_reductions ||
      !is_predefined(op))
    return Taken::no;
  const Layout layout = layout_of(datatype, count);
  if (!layout.is_dense ||
      !can_be_contribution(layout.packed_bytes, communicator->shared_slots->slots.size(), true))
    return Taken::no;
  shim::count(*world, *communicator, "allreduce");
  const InsideCall inside({"allreduce", comm, CurrentCall::Needs::members});
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  start_bearing_rendezvous(*communicator->shared_slots);
  if (!meet_and_combine(*communicator, input, recvbuf, layout, op, code)) return Taken::over;
  finish_at_head(*communicator, comm, "allreduce", communicator->shared_slots->missing.in_last,
                 code);
  return Taken::done;
}

Taken maybe_barrier_by_shared_slots(MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->shared_slots->carries_reductions) return Taken::no;
  count(*world, *communicator, "barrier");
  const InsideCall inside({"barrier", comm, CurrentCall::Needs::members});
  start_bearing_rendezvous(*communicator->shared_slots);
  if (!meet_bearing(*communicator)) return Taken::over;
  finish_at_head(*communicator, comm, "barrier", communicator->shared_slots->missing.in_last, code);
  return Taken::done;
}

bool goes_by_shared_slots(CollectiveCall& call, Kind kind, std::size_t bytes, MPI_Op op) {
  if (call.session().has_tasks()) call.lock();
  Communicator& communicator = call.communicator();
  if (!open_shared_slots(communicator, kind)) return false;
  const CommunicatorSlots& shared_slots = *communicator.shared_slots;
  if (kind == Kind::barrier) return true;
  const bool is_summed =
      kind == Kind::allreduce || kind == Kind::reduce || kind == Kind::reduce_scatter;
  if ((is_summed || kind == Kind::scan) && !is_predefined(op)) return false;
  return kind == Kind::broadcast ? bytes > 0 && bytes <= SlotMemory::broadcast_bytes_max
                                 : can_be_contribution(bytes, shared_slots.slots.size(), is_summed);
}

bool broadcast_by_shared_slots(CollectiveCall& call, void* buffer, const Layout& layout, int root,
                               int& code) {
  const Rank root_member = call.communicator().shared_slots->member(root);
  if (root_member == no_rank) return false;
  Communicator& communicator = call.communicator();
  CommunicatorSlots& shared_slots = crossing(call);
  const std::size_t bytes = layout.packed_bytes;
  shared_slots.machine.start_broadcast(root_member, has_to_leave(shared_slots));
  if (shared_slots.machine.step() == Step::write) {
    std::vector<std::byte> storage;
    if (!write(shared_slots, packed(buffer, layout, storage).data(), bytes)) return false;
  } else {
    if (!await_all(communicator, bytes)) return false;
    std::array<std::byte, SlotMemory::broadcast_bytes_max> payload;
    const std::size_t there = read(shared_slots, index(root_member),
                                   shared_slots.machine.poll_read(), payload.data(), bytes);
    code = take_payload({payload.data(), there}, buffer, layout);
  }
  end_broadcast(communicator, root);
  return true;
}

bool allreduce_by_shared_slots(CollectiveCall& call, const void* input, void* recvbuf,
                               const Layout& layout, MPI_Op op, int& code) {
  start_bearing_rendezvous(crossing(call));
  return meet_and_combine(call.communicator(), input, recvbuf, layout, op, code);
}

bool barrier_by_shared_slots(CollectiveCall& call) {
  start_bearing_rendezvous(crossing(call));
  return meet_bearing(call.communicator());
}

runtime::Outcome outcome_of_last(CommunicatorSlots& shared_slots) {
  return outcome_of(shared_slots, shared_slots.missing.in_last);
}

std::optional<int> meet_by_shared_slots(CollectiveCall& call, std::span<const std::byte> mine,
                                        std::vector<Brought>& all) {
  CommunicatorSlots& shared_slots = crossing(call);
  shared_slots.machine.start_rendezvous(has_to_leave(shared_slots));
  const std::size_t brought = std::min(mine.size(), SlotMemory::rendezvous_bytes_max);
  if (!write(shared_slots, mine.data(), brought)) return std::nullopt;
  const bool are_there = await_all(call.communicator(), 0);
  if (!are_there && !shared_slots.is_passed_by) return std::nullopt;
  note_last(call.communicator(), -1);
  if (!are_there) give_up_rendezvous(call.communicator());
  if (!are_there) return MPI_ERR_TRUNCATE;
  const protocols::SharedSlot slot = shared_slots.machine.poll_read();
  know_areas(shared_slots, 0, shared_slots.slots.size());
  for (int i = 0; i < shared_slots.slots.size(); ++i) {
    const std::byte* const payload = shared_slots.slots.payload(i, slot, 0);
    all.push_back({shared_slots.members->comm_rank(rank_at(i)),
                   {payload, shared_slots.slots.bytes_of(i, slot, 0)}});
  }
  return brought == mine.size() ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

bool meet_at_end(Communicator& communicator, MPI_Comm native) {
  if (communicator.shared_slots == nullptr || communicator.shared_slots->machine.is_over())
    return !is_interruption(PMPI_Barrier(native));
  communicator.shared_slots->machine.start_rendezvous(!communicator.shared_slots->takes_part());
  return meet(communicator);
}

void stay_away_from_end(Communicator& communicator) {
  if (communicator.shared_slots == nullptr || communicator.shared_slots->machine.is_over()) return;
  communicator.shared_slots->machine.handle_interruption();
  write(*communicator.shared_slots, nullptr, 0);
}

}  // namespace resprout::shim
