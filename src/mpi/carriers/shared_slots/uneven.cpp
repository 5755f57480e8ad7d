#include "mpi/carriers/shared_slots/uneven.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/errors/codes.hpp"

namespace resprout::shim {
namespace {

// As of MPI_Scatterv itself.
int take_own(const UnevenRow& row, const Communicator& communicator, const Piece* into) {
  if (into == nullptr) return MPI_SUCCESS;
  const runtime::Members& everybody = communicator.session->everybody();
  const auto block = row.of(everybody.comm_rank(everybody.self()), everybody.size());
  return block ? take_block(*block, *into) : MPI_ERR_TRUNCATE;
}

}  // namespace

// The operation over shared slots was the last one of the communicator so far.
std::nullopt_t for_another(CollectiveCall& call) {
  call.communicator().last = &call.session();
  return std::nullopt;
}

// A payload of `narrow_bytes` would have its slot where others do not look.
UnevenRow::UnevenRow(const runtime::Session& session, const Pieces& all) {
  const int ranks = session.everybody().size();
  memory_[0] = is_elsewhere_mark;
  size_ = 1;
  if (!all.depend_on_lost(session)) put(all.among(session), ranks);
  if (size_ == runtime::SlotMemory::narrow_bytes) memory_[size_++] = std::byte{0};
}

void UnevenRow::put(const Pieces& all, int ranks) {
  if (!has_room_for(ranks)) return;
  std::size_t end = 1 + static_cast<std::size_t>(ranks);
  std::vector<std::byte> storage;
  for (int rank = 0; rank < ranks; ++rank) {
    const Piece piece = all.of(rank);
    const std::size_t bytes = piece.layout.packed_bytes;
    if (bytes > bytes_max - end) return;
    const std::span<const std::byte> elements = packed(piece.buffer, piece.layout, storage);
    if (bytes != 0) std::memcpy(memory_.data() + end, elements.data(), bytes);
    memory_[1 + static_cast<std::size_t>(rank)] = static_cast<std::byte>(bytes);
    end += bytes;
  }
  memory_[0] = is_here_mark;
  size_ = end;
}

UnevenRow::UnevenRow(std::span<const std::byte> payload) : size_(payload.size()) {
  std::ranges::copy(payload, memory_.begin());
}

std::optional<std::span<const std::byte>> UnevenRow::of(int rank, int ranks) const {
  std::size_t at = 1 + static_cast<std::size_t>(ranks);
  if (size_ < at) return std::nullopt;
  for (int before = 0; before < rank; ++before)
    at += std::to_integer<std::size_t>(memory_[1 + static_cast<std::size_t>(before)]);
  const auto bytes = std::to_integer<std::size_t>(memory_[1 + static_cast<std::size_t>(rank)]);
  if (at + bytes > size_) return std::nullopt;
  return std::span(memory_).subspan(at, bytes);
}

Taken maybe_scatterv_by_shared_slots(const Pieces& all, void* recvbuf, int recvcount,
                                     MPI_Datatype recvtype, int root, MPI_Comm comm, int& code) {
  World* world = World::current();
  Communicator* communicator = at_head(world, comm);
  if (communicator == nullptr || !communicator->shared_slots->carries_scatters) return Taken::no;
  const CommunicatorSlots& shared_slots = *communicator->shared_slots;
  const runtime::Session& session = *communicator->session;
  const Rank root_member = shared_slots.member(root);
  const bool is_root = root_member == shared_slots.members->self();
  const bool is_in_place = recvbuf == MPI_IN_PLACE;
  if (root_member == no_rank || (is_in_place && !is_root)) return Taken::no;
  if (!UnevenRow::has_room_for(session.everybody().size())) return Taken::no;
  if (is_root && !all.among(session).are_valid(session.everybody().size())) return Taken::no;
  if (!is_in_place && !is_valid_buffer(recvcount, recvtype)) return Taken::no;
  UnevenRow row = is_root ? UnevenRow(session, all) : UnevenRow();
  count(*world, *communicator, "scatterv");
  const InsideCall inside({"scatterv", comm, CurrentCall::Needs::members});
  std::size_t bytes = is_root ? row.size() : UnevenRow::bytes_max;
  if (!run_broadcast(*communicator, root, root_member, false, row.data(), bytes))
    return Taken::over;
  row.set_size(bytes);
  if (!row.is_here()) return Taken::over;
  const Piece into = is_in_place ? Piece{} : Piece::of(recvbuf, recvcount, recvtype);
  code = take_own(row, *communicator, is_in_place ? nullptr : &into);
  return Taken::done;
}

std::optional<int> scatterv_by_shared_slots(CollectiveCall& call, const Pieces& all, int root,
                                            const Piece* into) {
  if (!UnevenRow::has_room_for(call.session().everybody().size())) return std::nullopt;
  if (!goes_by_shared_slots(call, Kind::scatter, 1)) return std::nullopt;
  Communicator& communicator = call.communicator();
  const Rank root_member = communicator.shared_slots->member(root);
  if (root_member == no_rank) return std::nullopt;
  const bool is_root = call.rank() == root;
  UnevenRow row = is_root ? UnevenRow(call.session(), all) : UnevenRow();
  const CommunicatorSlots& shared_slots = crossing(call);
  std::size_t bytes = is_root ? row.size() : UnevenRow::bytes_max;
  if (!run_broadcast(communicator, root, root_member, has_to_leave(shared_slots), row.data(),
                     bytes))
    return std::nullopt;
  row.set_size(bytes);
  if (!row.is_here()) return for_another(call);
  return call.finish(delivered(), take_own(row, communicator, into));
}

std::span<const std::byte> uneven_share(const Piece& mine, bool is_elsewhere,
                                        std::vector<std::byte>& storage) {
  const std::size_t bytes = mine.layout.packed_bytes;
  if (is_elsewhere || bytes >= runtime::SlotMemory::rendezvous_bytes_max) {
    storage.assign(1, is_elsewhere_mark);
    return storage;
  }
  std::vector<std::byte> elements;
  const auto given = packed(mine.buffer, mine.layout, elements);
  storage.assign(1, is_here_mark);
  storage.insert(storage.end(), given.begin(), given.end());
  return storage;
}

bool are_shares_here(std::span<const Brought> all) {
  return std::ranges::all_of(
      all, [](const Brought& it) { return !it.data.empty() && it.data.front() == is_here_mark; });
}

int take_shares(std::span<const Brought> all, const Pieces& into, int except) {
  int code = MPI_SUCCESS;
  for (const auto& [rank, data] : all) {
    if (rank == except) continue;
    const int taken = take_block(data.subspan(1), into.of(rank));
    if (taken != MPI_SUCCESS) code = taken;
  }
  return code;
}

std::optional<int> gatherv_by_shared_slots(CollectiveCall& call, const Piece& mine,
                                           const Pieces& into, int root, bool is_in_place) {
  if (!goes_by_shared_slots(call, Kind::gather, 1)) return std::nullopt;
  const bool is_root = call.rank() == root;
  std::vector<std::byte> storage;
  std::vector<Brought> all;
  const auto share = uneven_share(mine, is_root && into.depend_on_lost(call.session()), storage);
  const auto code = meet_by_shared_slots(call, share, all);
  if (!code) return std::nullopt;
  if (*code != MPI_SUCCESS || all.empty()) return call.finish(delivered(), *code);
  if (!are_shares_here(all)) return for_another(call);
  if (!is_root) return call.finish(delivered(), MPI_SUCCESS);
  const Pieces living = into.among(call.session());
  return call.finish(delivered(), take_shares(all, living, is_in_place ? root : -1));
}

}  // namespace resprout::shim
