#include "mpi/carriers/lanes/lanes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "mpi/carriers/lanes/crossing.hpp"
#include "mpi/carriers/stand_ins.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::LaneWord;
using runtime::LaneMemory;
using Step = protocols::Lanes::Step;

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

// A meeting to which all bring something; `recvbuf`: null where nobody wants the result.
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
  if (recvbuf == nullptr) code = MPI_SUCCESS;
  if (recvbuf == nullptr || !all.are_alike()) return true;
  MpiCombiner combiner(op, layout);
  combine(all, 0, lanes.slots.size(), combiner,
          {static_cast<std::byte*>(recvbuf), layout.packed_bytes});
  code = combiner.code();
  return true;
}

// `bytes`: there is room for these, or the root gives them; what the root has given, and nothing is
// copied where that is more. False: the lanes are over.
inline bool run_broadcast(Communicator& communicator, int root, Rank root_member, void* buffer,
                          std::size_t& bytes) {
  CommunicatorLanes& lanes = *communicator.lanes;
  lanes.machine.start_broadcast(root_member, false);
  if (lanes.machine.step() == Step::write) {
    write(lanes, buffer, bytes);
  } else {
    if (!await_all(communicator, bytes)) return false;
    bytes = read(lanes, index(root_member), lanes.machine.poll_read(), buffer, bytes);
  }
  end_broadcast(communicator, root);
  return true;
}

}  // namespace

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
  std::size_t there = bytes;
  if (!run_broadcast(*communicator, root, root_member, buffer, there)) return Taken::over;
  if (there > bytes) code = MPI_ERR_TRUNCATE;
  return Taken::done;
}

Taken maybe_scatter_by_lanes(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                             MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->lanes->carries_scatters) return Taken::no;
  CommunicatorLanes& lanes = *communicator->lanes;
  const Rank root_member = lanes.member(root);
  const bool is_root = root_member == lanes.members->self();
  const bool is_in_place = recvbuf == MPI_IN_PLACE;
  if (root_member == no_rank || (is_in_place && !is_root)) return Taken::no;
  const Pieces all(sendbuf, sendcount, sendtype);
  if ((is_root && !is_valid_buffer(sendcount, sendtype)) ||
      (!is_in_place && !is_valid_buffer(recvcount, recvtype)))
    return Taken::no;
  const Piece mine = is_in_place ? all.of(root) : Piece::of(recvbuf, recvcount, recvtype);
  const int ranks = communicator->session->everybody().size();
  const std::size_t each = mine.layout.packed_bytes;
  const std::size_t bytes = each * static_cast<std::size_t>(ranks);
  if (bytes == 0 || bytes > LaneMemory::broadcast_bytes_max) return Taken::no;
  std::array<std::byte, LaneMemory::broadcast_bytes_max> row;
  for (int rank = 0; is_root && rank < ranks; ++rank) {
    const Piece piece = all.of(rank);
    if (!piece.layout.is_dense || piece.layout.packed_bytes != each) return Taken::no;
    std::memcpy(row.data() + each * static_cast<std::size_t>(rank), piece.buffer, each);
  }
  shim::count(*world, *communicator, "scatter");
  const InsideCall inside({"scatter", comm, CurrentCall::Needs::members});
  std::size_t there = bytes;
  if (!run_broadcast(*communicator, root, root_member, row.data(), there)) return Taken::over;
  const int self = lanes.members->comm_rank(lanes.members->self());
  if (there != bytes)
    code = MPI_ERR_TRUNCATE;
  else if (!is_in_place)
    code = take_block({row.data() + each * static_cast<std::size_t>(self), each}, mine);
  return Taken::done;
}

Taken maybe_allreduce_by_lanes(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->lanes->carries_reductions || !is_predefined(op))
    return Taken::no;
  const Layout layout = layout_of(datatype, count);
  if (!layout.is_dense ||
      !can_be_contribution(layout.packed_bytes, communicator->lanes->slots.size()))
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

bool goes_by_lanes(CollectiveCall& call, Kind kind, std::size_t bytes, MPI_Op op) {
  if (call.session().has_tasks()) call.lock();
  Communicator& communicator = call.communicator();
  if (!open_lanes(communicator, kind)) return false;
  const CommunicatorLanes& lanes = *communicator.lanes;
  if (kind == Kind::barrier) return true;
  const bool combines = kind == Kind::allreduce || kind == Kind::reduce || kind == Kind::scan ||
                        kind == Kind::reduce_scatter;
  if (combines && !is_predefined(op)) return false;
  return kind == Kind::broadcast ? bytes > 0 && bytes <= LaneMemory::broadcast_bytes_max
                                 : can_be_contribution(bytes, lanes.slots.size());
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
