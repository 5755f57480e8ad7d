#include "mpi/operations/p2p/buffered_sends.hpp"

#include <atomic>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "mpi/carriers/started/send_halves.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/process/world.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct PersistentBuffered {
  Sending sending;
  SendBuffer from;  // with a datatype of its own: the program may free its own one
};

// Never destroyed: the program's exit handlers may still complete requests.
struct BufferTable {
  runtime::Mutex mutex;
  std::size_t attached_bytes RESPROUT_GUARDED_BY(mutex) = 0;
  std::unordered_map<MPI_Request, PersistentBuffered> persistent RESPROUT_GUARDED_BY(mutex);
  std::atomic<std::size_t> persistent_count{0};
};

BufferTable& buffer_table() {
  static auto* instance = new BufferTable;
  return *instance;
}

// Of the program's buffer, behind what the sends that are not over take of it.
bool has_room_for(std::size_t bytes) {
  const std::size_t used = buffered_bytes();
  const runtime::MutexLock guard(buffer_table().mutex);
  return used + bytes + MPI_BSEND_OVERHEAD <= buffer_table().attached_bytes;
}

// None is pending in it.
void note_attached(std::size_t bytes) {
  const runtime::MutexLock guard(buffer_table().mutex);
  buffer_table().attached_bytes = bytes;
}

std::optional<PersistentBuffered> find_buffered(MPI_Request request) {
  if (buffer_table().persistent_count.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const runtime::MutexLock guard(buffer_table().mutex);
  const auto found = buffer_table().persistent.find(request);
  return found != buffer_table().persistent.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace

int attach_buffer(void* buffer, int bytes) {
  const int code = PMPI_Buffer_attach(buffer, bytes);
  if (code == MPI_SUCCESS) note_attached(static_cast<std::size_t>(bytes));
  return code;
}

int detach_buffer(void* buffer, int* bytes) {
  finish_buffered();
  const int code = PMPI_Buffer_detach(buffer, bytes);
  if (code == MPI_SUCCESS) note_attached(0);
  return code;
}

bool is_bufferable(const Sending& sending, const SendBuffer& sent) {
  if (World::current() == nullptr || sending.comm == MPI_COMM_NULL) return false;
  const auto size = static_cast<int>(communicator_of(sending.comm)->world_ranks.size());
  const bool is_somebody =
      sending.dest == MPI_PROC_NULL || (sending.dest >= 0 && sending.dest < size);
  return is_somebody && sending.tag >= 0 && sent.count >= 0 && sent.datatype != MPI_DATATYPE_NULL &&
         is_copyable(layout_of(sent.datatype, sent.count));
}

int send_buffered(const Sending& sending, const SendBuffer& sent) {
  if (sending.dest == MPI_PROC_NULL) return MPI_SUCCESS;
  if (is_out_of_reach(sending.comm, sending.dest)) return code_of_loss(sending.comm);
  const Layout layout = layout_of(sent.datatype, sent.count);
  if (!has_room_for(layout.packed_bytes)) return MPI_ERR_BUFFER;
  SendHalf half{.sending = sending, .is_buffered = true};
  half.world_rank = World::current()->world_rank_of(sending.comm, sending.dest);
  const int code = begin_half(half, copy_of(sent, layout, half.bytes));
  if (code == MPI_SUCCESS) keep_send_half(MPI_REQUEST_NULL, std::move(half));
  return code;
}

int init_buffered(const Sending& sending, const SendBuffer& from, MPI_Request* request) {
  const int code = PMPI_Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  if (code != MPI_SUCCESS) return code;
  PersistentBuffered made{sending, from};
  PMPI_Type_dup(from.datatype, &made.from.datatype);
  const runtime::MutexLock guard(buffer_table().mutex);
  buffer_table().persistent.insert_or_assign(*request, made);
  buffer_table().persistent_count.store(buffer_table().persistent.size());
  return MPI_SUCCESS;
}

int start_buffered(MPI_Request request) {
  const auto found = find_buffered(request);
  return found ? send_buffered(found->sending, found->from) : MPI_SUCCESS;
}

void forget_buffered(MPI_Request request) {
  if (!find_buffered(request)) return;
  const runtime::MutexLock guard(buffer_table().mutex);
  PMPI_Type_free(&buffer_table().persistent.at(request).from.datatype);
  buffer_table().persistent.erase(request);
  buffer_table().persistent_count.store(buffer_table().persistent.size());
}

}  // namespace resprout::shim
