#include "mpi/operations/rma/fenced_window.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "mpi/carriers/anybody.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/handles/datatypes/type_recipe.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/own_calls.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

std::size_t packed_bytes(int count, MPI_Datatype datatype) {
  return facts_of(datatype).size * static_cast<std::size_t>(count);
}

bool is_complete(int count, MPI_Datatype datatype) {
  return count >= 0 && datatype != MPI_DATATYPE_NULL;
}

// The origin's elements, as many bytes as the target's. An error class.
int pack(const SendBuffer& origin, const AtTarget& place, std::vector<std::byte>& storage,
         std::span<const std::byte>& data) {
  if (!is_complete(origin.count, origin.datatype)) return MPI_ERR_TYPE;
  data = packed(origin.data, layout_of(origin.datatype, origin.count), storage);
  return data.size() == packed_bytes(place.count, place.datatype) ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

}  // namespace

FencedWindow::FencedWindow(MPI_Comm comm, const Made& made)
    : comm_(comm),
      is_apart_(made.is_apart),
      is_dynamic_(made.is_dynamic),
      is_allocated_(made.is_allocated),
      memory_(made.memory) {
  struct Said {
    std::int64_t bytes;
    std::int32_t unit;
    std::int32_t is_shared;
  };
  const OwnCalls own;
  const Said mine{memory_.bytes, memory_.unit, made.shared.empty() ? 0 : 1};
  std::vector<Said> all(communicator_of(comm)->world_ranks.size(), Said{0, 1, 0});
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm);
  is_shared_ = std::ranges::all_of(all, [](const Said& said) { return said.is_shared != 0; });
  members_.resize(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    members_[rank].memory = {is_shared_ ? made.shared[rank] : nullptr,
                             static_cast<MPI_Aint>(all[rank].bytes), all[rank].unit};
}

bool FencedWindow::has_fences_for(int rank) {
  const runtime::MutexLock guard(mutex_);
  return !is_started_ && !is_locked_ && !locked_.contains(rank);
}

void FencedWindow::begin_locks(int rank) {
  const runtime::MutexLock guard(mutex_);
  if (rank == MPI_ANY_SOURCE)
    is_locked_ = true;
  else
    locked_.insert(rank);
}

void FencedWindow::end_locks(int rank) {
  const runtime::MutexLock guard(mutex_);
  if (rank == MPI_ANY_SOURCE)
    is_locked_ = false;
  else if (const auto it = locked_.find(rank); it != locked_.end())
    locked_.erase(it);
}

void FencedWindow::begin_start() {
  const runtime::MutexLock guard(mutex_);
  is_started_ = true;
}

void FencedWindow::end_start() {
  const runtime::MutexLock guard(mutex_);
  is_started_ = false;
}

// Where siblings stand in nobody is: they answer what it would have.
bool FencedWindow::is_lost(int rank) const {
  return !call_policy().stands_in() &&
         World::current()->is_lost(communicator_of(comm_)->world_ranks[at(rank)]);
}

int FencedWindow::check(int rank, const AtTarget& place, bool& is_void) {
  is_void = rank == MPI_PROC_NULL;
  if (is_void) return MPI_SUCCESS;
  if (rank < 0 || at(rank) >= members_.size()) return MPI_ERR_RANK;
  if (place.count < 0) return MPI_ERR_COUNT;
  if (place.datatype == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  if (!is_open_) return MPI_ERR_RMA_SYNC;
  const WindowMemory& there = members_[at(rank)].memory;
  const Reach reach = reach_of(place, there.unit);
  const bool is_inside = reach.first >= 0 && reach.end <= there.bytes;
  is_void = reach.first == reach.end || is_lost(rank);
  return is_dynamic_ || is_void || is_inside ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

int FencedWindow::add(AccessKind kind, MPI_Op op, int rank, const AtTarget& place,
                      std::span<const std::byte> data, const ResultBuffer* result) {
  Member& member = members_[at(rank)];
  if (!member.accesses.add(kind, op, place, data)) return MPI_ERR_TYPE;
  if (result == nullptr) return MPI_SUCCESS;
  Awaited awaited{*result, combiner_of(result->datatype) != MPI_COMBINER_NAMED};
  if (awaited.is_own_type) PMPI_Type_dup(result->datatype, &awaited.result.datatype);
  member.awaited.push_back(awaited);
  return MPI_SUCCESS;
}

int FencedWindow::put(const SendBuffer& origin, int rank, const AtTarget& place) {
  const runtime::MutexLock guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS || is_void) return code;
  std::vector<std::byte> storage;
  std::span<const std::byte> data;
  if (const int code = pack(origin, place, storage, data); code != MPI_SUCCESS) return code;
  const WindowMemory& memory = members_[at(rank)].memory;
  if (!is_shared_) return add(AccessKind::put, MPI_REPLACE, rank, place, data, nullptr);
  unpack(data, memory.base + place.at * memory.unit, layout_of(place.datatype, place.count));
  return MPI_SUCCESS;
}

int FencedWindow::get(const ResultBuffer& result, int rank, const AtTarget& place) {
  const runtime::MutexLock guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS) return code;
  if (is_void) {
    note_missed(rank, place);
    return MPI_SUCCESS;
  }
  if (!is_complete(result.count, result.datatype)) return MPI_ERR_TYPE;
  const Layout here = layout_of(result.datatype, result.count);
  const Layout there = layout_of(place.datatype, place.count);
  if (here.packed_bytes != there.packed_bytes) return MPI_ERR_TRUNCATE;
  if (!is_shared_) return add(AccessKind::get, MPI_NO_OP, rank, place, {}, &result);
  const WindowMemory& memory = members_[at(rank)].memory;
  std::vector<std::byte> storage;
  unpack(packed(memory.base + place.at * memory.unit, there, storage), result.data, here);
  return MPI_SUCCESS;
}

int FencedWindow::accumulate(const SendBuffer& origin, int rank, const AtTarget& place, MPI_Op op) {
  const runtime::MutexLock guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS || is_void) return code;
  std::vector<std::byte> storage;
  std::span<const std::byte> data;
  if (const int code = pack(origin, place, storage, data); code != MPI_SUCCESS) return code;
  return add(AccessKind::accumulate, op, rank, place, data, nullptr);
}

int FencedWindow::get_accumulate(const SendBuffer& origin, const ResultBuffer& result, int rank,
                                 const AtTarget& place, MPI_Op op) {
  const runtime::MutexLock guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS) return code;
  if (is_void) {
    note_missed(rank, place);
    return MPI_SUCCESS;
  }
  if (!is_complete(result.count, result.datatype)) return MPI_ERR_TYPE;
  if (packed_bytes(result.count, result.datatype) != packed_bytes(place.count, place.datatype))
    return MPI_ERR_TRUNCATE;
  std::vector<std::byte> storage;
  std::span<const std::byte> data;
  if (op != MPI_NO_OP)
    if (const int code = pack(origin, place, storage, data); code != MPI_SUCCESS) return code;
  return add(AccessKind::get_accumulate, op, rank, place, data, &result);
}

int FencedWindow::compare_and_swap(const void* origin, const void* compared,
                                   const ResultBuffer& result, int rank, const AtTarget& place) {
  const runtime::MutexLock guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS) return code;
  if (is_void) {
    note_missed(rank, place);
    return MPI_SUCCESS;
  }
  const std::size_t bytes = packed_bytes(1, place.datatype);
  std::vector<std::byte> both(2 * bytes);
  std::memcpy(both.data(), compared, bytes);
  std::memcpy(both.data() + bytes, origin, bytes);
  return add(AccessKind::compare_and_swap, MPI_NO_OP, rank, place, both, &result);
}

int FencedWindow::fence(int assertion) {
  const OwnCalls own;
  const runtime::MutexLock guard(mutex_);
  if (is_locked_ || is_started_ || !locked_.empty()) return MPI_ERR_RMA_SYNC;
  const int code = exchange();
  forget_epoch();
  is_open_ = (assertion & MPI_MODE_NOSUCCEED) == 0;
  const bool has_missed = std::exchange(has_missed_, false);
  return code == MPI_SUCCESS && has_missed ? proc_failed() : code;
}

// This process's own part comes first, and is in no exchange: whoever is through the first
// collective may look into shared memory.
int FencedWindow::exchange() {
  const auto self = at(communicator_of(comm_)->rank);
  const std::size_t size = members_.size();
  std::array<std::uint64_t, 2> mine{};  // the longest list, the longest answer
  std::vector<std::span<const std::byte>> lists(size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (rank == self) continue;
    lists[rank] = members_[rank].accesses.bytes();
    mine[0] = std::max<std::uint64_t>(mine[0], lists[rank].size());
    mine[1] = std::max<std::uint64_t>(mine[1], members_[rank].accesses.answer_bytes());
  }
  ListsOfBytes answers(size);
  carry_out(members_[self].accesses.bytes(), memory_, answers[self]);
  std::array<std::uint64_t, 2> most = mine;
  int code = MPI_Allreduce(mine.data(), most.data(), 2, MPI_UINT64_T, MPI_MAX, comm_);
  if (code != MPI_SUCCESS) return code;

  ListsOfBytes wanted(size);
  if (most[0] > 0) code = exchange_lists(comm_, lists, most[0], wanted);
  if (code != MPI_SUCCESS) return code;
  for (std::size_t rank = 0; rank < size; ++rank)
    if (rank != self) carry_out(wanted[rank], memory_, answers[rank]);

  ListsOfBytes answered(size);
  if (most[1] > 0) {
    std::vector<std::span<const std::byte>> to_others(answers.begin(), answers.end());
    to_others[self] = {};
    code = exchange_lists(comm_, to_others, most[1], answered);
  }
  if (code != MPI_SUCCESS) return code;
  answered[self] = std::move(answers[self]);
  take_answers(answered);
  // Others may look into the memory itself from here on.
  return is_shared_ && most[0] > 0 ? MPI_Barrier(comm_) : MPI_SUCCESS;
}

void FencedWindow::take_answers(const ListsOfBytes& answers) {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    std::span<const std::byte> left = answers[rank];
    if (left.empty()) {  // lost, or not asked
      has_missed_ |= !members_[rank].awaited.empty() && !call_policy().stands_in();
      continue;
    }
    for (const Awaited& awaited : members_[rank].awaited) {
      const Layout layout = layout_of(awaited.result.datatype, awaited.result.count);
      unpack(left.first(layout.packed_bytes), awaited.result.data, layout);
      left = left.subspan(layout.packed_bytes);
    }
  }
}

void FencedWindow::note_missed(int rank, const AtTarget& place) {
  has_missed_ |= rank >= 0 && is_lost(rank) && packed_bytes(place.count, place.datatype) > 0;
}

void FencedWindow::forget_epoch() {
  for (Member& member : members_) {
    member.accesses.clear();
    for (Awaited& awaited : member.awaited)
      if (awaited.is_own_type) PMPI_Type_free(&awaited.result.datatype);
    member.awaited.clear();
  }
}

bool FencedWindow::close() {
  const OwnCalls own;
  const runtime::MutexLock guard(mutex_);
  MPI_Comm comm = comm_;
  bool is_whole = true;
  if (ulfm::is_active()) {
    MPI_Barrier(comm);
  } else {
    runtime::Lock lock = World::current()->engine().lock();
    runtime::Session& session = *session_of(comm, lock);
    is_whole = !does_anybody_say(session, lock, !session.is_whole()) && session.is_whole();
  }
  MPI_Comm_free(&comm);
  return is_apart_ || is_whole;
}

}  // namespace resprout::shim
