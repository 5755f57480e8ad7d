#include "shim/one_sided/fenced_window.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/own_calls.hpp"
#include "shim/payload.hpp"
#include "shim/replication/masking.hpp"
#include "shim/type_facts.hpp"
#include "shim/world.hpp"

namespace resprout::shim {
namespace {

// Lists up to here go with their lengths in one exchange, where every pair has a slot.
constexpr std::uint64_t slot_bytes_max = 512;
// Longer ones go in several messages.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 30;

std::size_t packed_bytes(int count, MPI_Datatype datatype) {
  return facts_of(datatype).size * static_cast<std::size_t>(count);
}

bool is_complete(int count, MPI_Datatype datatype) {
  return count >= 0 && datatype != MPI_DATATYPE_NULL;
}

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

// Bytes from everybody to everybody on `comm`. Of the lost nothing arrives, or all.
class Exchanged {
 public:
  Exchanged(MPI_Comm comm, const std::vector<std::span<const std::byte>>& mine)
      : comm_(comm), mine_(mine), size_(mine.size()) {}

  // `most`: the length of the longest one, of all pairs.
  int run(std::uint64_t most, std::vector<std::vector<std::byte>>& others) {
    others.assign(size_, {});
    return most <= slot_bytes_max ? run_in_slots(most, others) : run_in_messages(others);
  }

 private:
  using Length = std::uint64_t;

  int run_in_slots(std::uint64_t most, std::vector<std::vector<std::byte>>& others) {
    const std::size_t slot = sizeof(Length) + most;
    std::vector<std::byte> out(slot * size_);
    std::vector<std::byte> in(slot * size_);
    for (std::size_t rank = 0; rank < size_; ++rank) {
      const Length length = mine_[rank].size();
      std::memcpy(&out[slot * rank], &length, sizeof length);
      if (length > 0) std::memcpy(&out[slot * rank + sizeof length], mine_[rank].data(), length);
    }
    const int bytes = static_cast<int>(slot);
    const int code = MPI_Alltoall(out.data(), bytes, MPI_BYTE, in.data(), bytes, MPI_BYTE, comm_);
    if (code != MPI_SUCCESS) return code;
    for (std::size_t rank = 0; rank < size_; ++rank) {
      Length length = 0;
      std::memcpy(&length, &in[slot * rank], sizeof length);
      const std::byte* from = &in[slot * rank] + sizeof length;
      others[rank].assign(from, from + length);
    }
    return code;
  }

  // Their lengths, and then a message for each pair that has any; of long lists several.
  int run_in_messages(std::vector<std::vector<std::byte>>& others) {
    std::vector<Length> lengths(size_);
    std::vector<Length> heard(size_);
    for (std::size_t rank = 0; rank < size_; ++rank) lengths[rank] = mine_[rank].size();
    const int code =
        MPI_Alltoall(lengths.data(), 1, MPI_UINT64_T, heard.data(), 1, MPI_UINT64_T, comm_);
    if (code != MPI_SUCCESS) return code;
    std::vector<Message> messages;
    for (std::size_t rank = 0; rank < size_; ++rank) {
      others[rank].resize(heard[rank]);
      in_pieces(heard[rank], [&](Length begin, int bytes) {
        Message& message = messages.emplace_back(&others[rank]);
        message.is_lost = MPI_Irecv(&others[rank][begin], bytes, MPI_BYTE, static_cast<int>(rank),
                                    0, comm_, &message.request) != MPI_SUCCESS;
      });
    }
    for (std::size_t rank = 0; rank < size_; ++rank)
      in_pieces(lengths[rank], [&](Length begin, int bytes) {
        MPI_Isend(&mine_[rank][begin], bytes, MPI_BYTE, static_cast<int>(rank), 0, comm_,
                  &messages.emplace_back(nullptr).request);
      });
    for (Message& message : messages)
      if (MPI_Wait(&message.request, MPI_STATUS_IGNORE) != MPI_SUCCESS) message.is_lost = true;
    // Who is lost has said nothing.
    for (const Message& message : messages)
      if (message.is_lost && message.to != nullptr) message.to->clear();
    return MPI_SUCCESS;
  }

  struct Message {
    explicit Message(std::vector<std::byte>* list) : to(list) {}
    std::vector<std::byte>* to;  // null: it is sent
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_lost = false;
  };

  template <typename Do>
  static void in_pieces(Length length, Do act) {
    for (Length done = 0; done < length; done += piece_bytes)
      act(done, static_cast<int>(std::min(piece_bytes, length - done)));
  }

  const MPI_Comm comm_;
  const std::vector<std::span<const std::byte>>& mine_;
  const std::size_t size_;
};

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
  const std::lock_guard guard(mutex_);
  return !is_started_ && !is_locked_ && !locked_.contains(rank);
}

void FencedWindow::begin_locks(int rank) {
  const std::lock_guard guard(mutex_);
  if (rank == MPI_ANY_SOURCE)
    is_locked_ = true;
  else
    locked_.insert(rank);
}

void FencedWindow::end_locks(int rank) {
  const std::lock_guard guard(mutex_);
  if (rank == MPI_ANY_SOURCE)
    is_locked_ = false;
  else if (const auto it = locked_.find(rank); it != locked_.end())
    locked_.erase(it);
}

void FencedWindow::begin_start() {
  const std::lock_guard guard(mutex_);
  is_started_ = true;
}

void FencedWindow::end_start() {
  const std::lock_guard guard(mutex_);
  is_started_ = false;
}

// Where siblings stand in nobody is: they answer what it would have.
bool FencedWindow::is_lost(int rank) const {
  return masking.load(std::memory_order_acquire) == nullptr &&
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

int FencedWindow::put(const OriginBuffer& origin, int rank, const AtTarget& place) {
  const std::lock_guard guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS || is_void) return code;
  if (!is_complete(origin.count, origin.datatype)) return MPI_ERR_TYPE;
  std::vector<std::byte> storage;
  const auto data = packed(origin.data, layout_of(origin.datatype, origin.count), storage);
  const Layout there = layout_of(place.datatype, place.count);
  if (data.size() != there.packed_bytes) return MPI_ERR_TRUNCATE;
  const WindowMemory& memory = members_[at(rank)].memory;
  if (!is_shared_) return add(AccessKind::put, MPI_REPLACE, rank, place, data, nullptr);
  unpack(data, memory.base + place.at * memory.unit, there);
  return MPI_SUCCESS;
}

int FencedWindow::get(const ResultBuffer& result, int rank, const AtTarget& place) {
  const std::lock_guard guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS || is_void) return code;
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

int FencedWindow::accumulate(const OriginBuffer& origin, int rank, const AtTarget& place,
                             MPI_Op op) {
  const std::lock_guard guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS || is_void) return code;
  if (!is_complete(origin.count, origin.datatype)) return MPI_ERR_TYPE;
  std::vector<std::byte> storage;
  const auto data = packed(origin.data, layout_of(origin.datatype, origin.count), storage);
  if (data.size() != packed_bytes(place.count, place.datatype)) return MPI_ERR_TRUNCATE;
  return add(AccessKind::accumulate, op, rank, place, data, nullptr);
}

int FencedWindow::get_accumulate(const OriginBuffer& origin, const ResultBuffer& result, int rank,
                                 const AtTarget& place, MPI_Op op) {
  const std::lock_guard guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS || is_void) return code;
  if (!is_complete(result.count, result.datatype)) return MPI_ERR_TYPE;
  const std::size_t bytes = packed_bytes(place.count, place.datatype);
  if (packed_bytes(result.count, result.datatype) != bytes) return MPI_ERR_TRUNCATE;
  std::vector<std::byte> storage;
  std::span<const std::byte> data;
  if (op != MPI_NO_OP) {
    if (!is_complete(origin.count, origin.datatype)) return MPI_ERR_TYPE;
    data = packed(origin.data, layout_of(origin.datatype, origin.count), storage);
    if (data.size() != bytes) return MPI_ERR_TRUNCATE;
  }
  return add(AccessKind::get_accumulate, op, rank, place, data, &result);
}

int FencedWindow::compare_and_swap(const void* origin, const void* compared,
                                   const ResultBuffer& result, int rank, const AtTarget& place) {
  const std::lock_guard guard(mutex_);
  bool is_void = false;
  if (const int code = check(rank, place, is_void); code != MPI_SUCCESS || is_void) return code;
  const std::size_t bytes = packed_bytes(1, place.datatype);
  std::vector<std::byte> both(2 * bytes);
  std::memcpy(both.data(), compared, bytes);
  std::memcpy(both.data() + bytes, origin, bytes);
  return add(AccessKind::compare_and_swap, MPI_NO_OP, rank, place, both, &result);
}

int FencedWindow::fence(int assertion) {
  const OwnCalls own;
  const std::lock_guard guard(mutex_);
  if (is_locked_ || is_started_ || !locked_.empty()) return MPI_ERR_RMA_SYNC;
  const int code = exchange();
  forget_epoch();
  is_open_ = (assertion & MPI_MODE_NOSUCCEED) == 0;
  return code;
}

// This process's own part goes the same way, but in no exchange.
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
  std::array<std::uint64_t, 2> most = mine;
  int code = MPI_Allreduce(mine.data(), most.data(), 2, MPI_UINT64_T, MPI_MAX, comm_);
  if (code != MPI_SUCCESS) return code;

  std::vector<std::vector<std::byte>> wanted(size);
  std::vector<std::vector<std::byte>> answers(size);
  if (most[0] > 0) code = Exchanged(comm_, lists).run(most[0], wanted);
  if (code != MPI_SUCCESS) return code;
  for (std::size_t rank = 0; rank < size; ++rank)
    carry_out(rank == self ? members_[self].accesses.bytes() : wanted[rank], memory_,
              answers[rank]);

  std::vector<std::vector<std::byte>> answered(size);
  if (most[1] > 0) {
    const std::vector<std::span<const std::byte>> said(answers.begin(), answers.end());
    std::vector<std::span<const std::byte>> to_others = said;
    to_others[self] = {};
    code = Exchanged(comm_, to_others).run(most[1], answered);
  }
  if (code != MPI_SUCCESS) return code;
  answered[self] = std::move(answers[self]);
  take_answers(answered);
  // Others may look into the memory itself from here on.
  return is_shared_ && most[0] > 0 ? MPI_Barrier(comm_) : MPI_SUCCESS;
}

void FencedWindow::take_answers(const std::vector<std::vector<std::byte>>& answers) {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    std::span<const std::byte> left = answers[rank];
    if (left.empty()) continue;  // lost
    for (const Awaited& awaited : members_[rank].awaited) {
      const Layout layout = layout_of(awaited.result.datatype, awaited.result.count);
      unpack(left.first(layout.packed_bytes), awaited.result.data, layout);
      left = left.subspan(layout.packed_bytes);
    }
  }
}

void FencedWindow::forget_epoch() {
  for (Member& member : members_) {
    member.accesses.clear();
    for (Awaited& awaited : member.awaited)
      if (awaited.is_own_type) PMPI_Type_free(&awaited.result.datatype);
    member.awaited.clear();
  }
}

int FencedWindow::close() {
  const OwnCalls own;
  const std::lock_guard guard(mutex_);
  MPI_Comm comm = comm_;
  MPI_Barrier(comm);
  return MPI_Comm_free(&comm);
}

}  // namespace resprout::shim
