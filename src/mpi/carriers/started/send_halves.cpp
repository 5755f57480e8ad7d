#include "mpi/carriers/started/send_halves.hpp"

#include <atomic>
#include <list>
#include <unordered_map>
#include <utility>

#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/unanswered.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/requests/broken_sends.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// Never destroyed: MPI may read what is left behind as long as there is MPI.
struct Halves {
  runtime::Mutex mutex;
  std::list<SendHalf> kept RESPROUT_GUARDED_BY(mutex);  // of receives that are not over
  // Those of them whose receive has a request that is not held.
  std::unordered_map<MPI_Request, std::list<SendHalf>::iterator> by_receive
      RESPROUT_GUARDED_BY(mutex);
  std::list<SendHalf> behind RESPROUT_GUARDED_BY(mutex);
  // By a loss: MPI may still hold what it has read.
  std::list<SendHalf> broken RESPROUT_GUARDED_BY(mutex);
  std::atomic<bool> is_used{false};
};

Halves& halves() {
  static auto* instance = new Halves;
  return *instance;
}

// Nobody will ever receive it. Of a communicator that was freed nothing can be asked.
bool is_vain(const SendHalf& half) {
  if (half.sending.comm != MPI_COMM_NULL && is_revoked(half.sending.comm)) return true;
  return half.world_rank >= 0 && World::current()->is_lost(half.world_rank);
}

void end(SendHalf& half, int code) {
  half.code = code_of_send(code);
  if (half.request != MPI_REQUEST_NULL) PMPI_Request_free(&half.request);
  if (code == MPI_SUCCESS) return;
  const runtime::MutexLock lock(halves().mutex);
  halves().broken.emplace_back().bytes = std::move(half.bytes);
}

// Whether it is over.
bool advance(SendHalf& half) {
  if (half.request == MPI_REQUEST_NULL) return true;
  const QuietLosses quiet;
  const MPI_Request before = half.request;
  const auto was = recall(before);
  int is_done = 0;
  const int code = PMPI_Test(&half.request, &is_done, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && is_done != 0 && half.sending.comm != MPI_COMM_NULL &&
      may_be_broken_off(half.sending.comm)) {
    end(half, code_of_loss(half.sending.comm));
  } else if (code != MPI_SUCCESS || is_done != 0) {
    end(half, code);
  } else if (has_anything_happened() && is_vain(half)) {
    end(half, half.sending.comm != MPI_COMM_NULL ? code_of_loss(half.sending.comm) : proc_failed());
  }
  if (half.request != MPI_REQUEST_NULL) return false;
  note_completion(was, before, MPI_REQUEST_NULL);
  return true;
}

void wait_for(SendHalf& half) {
  Patience patience;
  while (!advance(half)) patience.pause();
}

std::list<SendHalf> take_behind() {
  const runtime::MutexLock lock(halves().mutex);
  return std::exchange(halves().behind, {});
}

// Of what was left behind what is over goes.
void sweep() {
  std::list<SendHalf> behind = take_behind();
  behind.remove_if(advance);
  const runtime::MutexLock lock(halves().mutex);
  halves().behind.splice(halves().behind.end(), behind);
}

void leave_behind(SendHalf half) {
  if (advance(half)) return;
  const runtime::MutexLock lock(halves().mutex);
  halves().behind.push_back(std::move(half));
}

SendHalf take(std::list<SendHalf>::iterator kept) {
  const runtime::MutexLock lock(halves().mutex);
  SendHalf half = std::move(*kept);
  halves().kept.erase(kept);
  return half;
}

}  // namespace

void keep_send_half(MPI_Request receive, SendHalf half) {
  sweep();
  if (half.request == MPI_REQUEST_NULL && half.code == MPI_SUCCESS) return;
  halves().is_used.store(true, std::memory_order_relaxed);
  if (half.request != MPI_REQUEST_NULL)
    remember(half.request, {half.sending.comm, half.sending.dest, RequestRecord::Kind::send});
  if (receive == MPI_REQUEST_NULL) return leave_behind(std::move(half));
  const runtime::MutexLock lock(halves().mutex);
  halves().kept.push_back(std::move(half));
  halves().by_receive.insert_or_assign(receive, std::prev(halves().kept.end()));
}

SendHalves::SendHalves(int count, MPI_Request* requests, Then then)
    : requests_(requests), then_(then) {
  if (!halves().is_used.load(std::memory_order_relaxed) || count <= 0) return;
  const runtime::MutexLock lock(halves().mutex);
  for (int i = 0; i < count && !halves().by_receive.empty(); ++i) {
    const auto found = halves().by_receive.extract(requests[i]);
    if (found.empty()) continue;
    held_.resize(static_cast<std::size_t>(count));
    held_[static_cast<std::size_t>(i)] = {requests[i], found.mapped()};
  }
}

SendHalves::~SendHalves() {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const auto& [receive, half] = held_[i];
    if (!half) continue;
    if (requests_[i] == MPI_REQUEST_NULL) {
      leave_behind(take(*half));
    } else {
      const runtime::MutexLock lock(halves().mutex);
      halves().by_receive.insert_or_assign(receive, *half);
    }
  }
}

int SendHalves::result_of(int i) {
  if (held_.empty()) return MPI_SUCCESS;
  const auto kept = std::exchange(held_[static_cast<std::size_t>(i)].half, std::nullopt);
  if (!kept) return MPI_SUCCESS;
  SendHalf half = take(*kept);
  if (then_ == Then::wait) wait_for(half);
  if (!advance(half)) {
    leave_behind(std::move(half));
    return MPI_SUCCESS;
  }
  if (!is_loss(half.code)) return half.code;  // MPI has been with the handler
  const MPI_Comm comm = half.sending.comm;
  return finish(comm != MPI_COMM_NULL ? comm : MPI_COMM_WORLD, half.sending.call, half.code,
                Lacks::nothing);
}

// Small ones are sent at once: Open MPI 5.0 may end a process whose eager MPI_Isend the receiver
// does not live to see.
int begin_half(SendHalf& half, const SendBuffer& sent) {
  const auto& [name, comm, dest, tag] = half.sending;
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  if (is_out_of_reach(comm, dest)) return code_of_loss(comm);
  const Address to = address_of(comm, dest);
  if (ulfm::is_active() && is_sent_at_once(sent.count, sent.datatype))
    return PMPI_Send(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm);
  return PMPI_Isend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, &half.request);
}

std::size_t buffered_bytes() {
  sweep();
  std::size_t bytes = 0;
  const runtime::MutexLock lock(halves().mutex);
  for (const SendHalf& half : halves().behind)
    if (half.is_buffered) bytes += half.bytes.size() + MPI_BSEND_OVERHEAD;
  return bytes;
}

void finish_buffered() {
  Patience patience;
  while (buffered_bytes() != 0) patience.pause();
}

void forget_send_half(MPI_Request receive) {
  if (!halves().is_used.load(std::memory_order_relaxed)) return;
  runtime::MutexLock lock(halves().mutex);
  const auto found = halves().by_receive.extract(receive);
  lock.unlock();
  if (!found.empty()) leave_behind(take(found.mapped()));
}

void leave_send_halves(MPI_Comm comm) {
  if (!halves().is_used.load(std::memory_order_relaxed)) return;
  const runtime::MutexLock lock(halves().mutex);
  const auto leave = [comm](SendHalf& half) {
    if (half.sending.comm == comm) half.sending.comm = MPI_COMM_NULL;
  };
  for (SendHalf& half : halves().kept) leave(half);
  for (SendHalf& half : halves().behind) leave(half);
}

void finish_send_halves() {
  for (SendHalf& half : take_behind()) wait_for(half);
}

}  // namespace resprout::shim
