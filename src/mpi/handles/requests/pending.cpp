#include "mpi/handles/requests/pending.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/remade.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/calls_mutex.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/report/report.hpp"
#include "openmpi/local_failure.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

// How long, and how often, MPI is asked for a message that a process may have sent before it was
// lost.
constexpr std::int64_t hopeless_ns_min = 20'000'000;
constexpr int hopeless_looks_min = 100;

struct Table {
  CallsMutex mutex;
  std::unordered_map<MPI_Request, Pending> entries;
  std::uint64_t last_serial = 0;
  std::uint64_t freed_serial = 0;     // the last one when a communicator was freed
  std::atomic<std::size_t> count{0};  // of the entries
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

// REQUIRES: the mutex is held.
void note_count() { table().count.store(table().entries.size(), std::memory_order_relaxed); }

// Null: another request has its handle, or none. REQUIRES: the mutex is held.
Pending* find_same(MPI_Request request, const Pending& recalled) {
  const auto it = table().entries.find(request);
  const bool is_same = it != table().entries.end() && it->second.serial == recalled.serial;
  return is_same ? &it->second : nullptr;
}

// For what may have been sent before the loss.
bool is_asked_enough(const Pending& pending) {
  return pending.hopeless_looks > hopeless_looks_min &&
         wall_clock_ns() - pending.hopeless_since_ns > hopeless_ns_min;
}

// Nobody is left who could read or write the buffer, and MPI will not say so: where it notices
// losses, it ends what waits for the lost itself.
bool is_left_alone(const Pending& pending) {
  if (ulfm::is_active() && can_fail_locally()) return false;
  return is_asked_enough(pending) && is_without_peer(pending.comm, pending.peer);
}

// What MPI still holds of it the program will hear no more of.
int end(MPI_Request& request, const Pending& pending, int& is_done, MPI_Status& status) {
  is_done = 1;
  if (request != MPI_REQUEST_NULL && !pending.is_persistent) PMPI_Request_free(&request);
  note_communicator_in_error(pending.comm);
  status.MPI_SOURCE = pending.peer;
  status.MPI_ERROR = code_of_loss(pending.comm);
  return status.MPI_ERROR;
}

}  // namespace

bool is_any_remembered() { return table().count.load(std::memory_order_relaxed) != 0; }

void remember(MPI_Request request, const Pending& pending) {
  if (request == MPI_REQUEST_NULL) return;
  if (ulfm::is_active() && !pending.is_persistent && !pending.needs_receiver &&
      pending.unsent_code == MPI_SUCCESS && !is_remade(pending.comm))
    return forget(request);
  const std::scoped_lock lock(table().mutex);
  Pending& entry = table().entries[request];
  entry = pending;
  entry.serial = ++table().last_serial;
  note_count();
}

std::optional<Pending> recall(MPI_Request request) {
  if (!is_any_remembered()) return std::nullopt;
  const std::scoped_lock lock(table().mutex);
  const auto it = table().entries.find(request);
  if (it == table().entries.end()) return std::nullopt;
  return it->second;
}

void forget(MPI_Request request) {
  if (!is_any_remembered()) return;
  const std::scoped_lock lock(table().mutex);
  table().entries.erase(request);
  note_count();
}

bool has_requests_of(MPI_Comm comm) {
  if (!is_any_remembered()) return false;
  const std::scoped_lock lock(table().mutex);
  return std::ranges::any_of(table().entries,
                             [&](const auto& entry) { return entry.second.comm == comm; });
}

int forget_requests_of(MPI_Comm comm) {
  const std::scoped_lock lock(table().mutex);
  table().freed_serial = table().last_serial;
  int count = 0;
  std::erase_if(table().entries, [&](const auto& entry) {
    const bool is_meant = entry.second.comm == comm;
    if (is_meant && entry.second.is_started) ++count;
    return is_meant;
  });
  note_count();
  return count;
}

void note_start(MPI_Request request, int unsent_code) {
  std::optional<Pending> pending = recall(request);
  if (!pending) return;
  pending->is_started = true;
  pending->unsent_code = unsent_code;
  pending->is_taken_back = false;
  pending->hopeless_looks = 0;
  update(request, *pending);
}

bool note_completion(const std::optional<Pending>& was, MPI_Request before, MPI_Request after) {
  if (!was) return false;
  const std::scoped_lock lock(table().mutex);
  Pending* entry = find_same(before, *was);
  if (entry == nullptr) return was->serial > table().freed_serial;
  entry->is_started = false;
  entry->unsent_code = MPI_SUCCESS;
  if (after == MPI_REQUEST_NULL) table().entries.erase(before);
  note_count();
  return true;
}

// The state is kept between calls: a program may look as seldom as it likes.
void update(MPI_Request request, const Pending& pending) {
  const std::scoped_lock lock(table().mutex);
  if (Pending* entry = find_same(request, pending)) *entry = pending;
}

Recalled::Recalled(int count, const MPI_Request* requests) {
  if (count <= 0 || !is_any_remembered()) return;
  const std::scoped_lock lock(table().mutex);
  for (int i = 0; i < count; ++i) {
    const auto it = table().entries.find(requests[i]);
    if (it == table().entries.end()) continue;
    entries_.resize(static_cast<std::size_t>(count));
    entries_[static_cast<std::size_t>(i)] = {requests[i], it->second};
  }
}

const std::optional<Pending>& Recalled::operator[](int i) const {
  static const std::optional<Pending> nothing;
  return entries_.empty() ? nothing : entries_[static_cast<std::size_t>(i)].pending;
}

bool Recalled::note_completion(int i, MPI_Request after) const {
  if (entries_.empty()) return false;
  const Entry& entry = entries_[static_cast<std::size_t>(i)];
  return shim::note_completion(entry.pending, entry.request, after);
}

void Recalled::note_completions(const MPI_Request* requests) const {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (requests[i] == MPI_REQUEST_NULL) note_completion(static_cast<int>(i), MPI_REQUEST_NULL);
}

bool is_given_up(Pending& pending) {
  if (!has_anything_happened() || !is_hopeless(pending.comm, pending.peer)) return false;
  if (pending.hopeless_looks++ == 0) pending.hopeless_since_ns = wall_clock_ns();
  return (is_any_revoked() && is_revoked(pending.comm)) || is_asked_enough(pending);
}

int end_hopeless(MPI_Request& request, Pending& pending, int& is_done, MPI_Status& status) {
  is_done = 0;
  if (pending.kind == Pending::Kind::receive && !pending.is_taken_back) {
    pending.is_taken_back = true;
    PMPI_Cancel(&request);
    for (int look = 0; look < hopeless_looks_min && is_done == 0; ++look) {
      int is_cancelled = 0;
      const int code = PMPI_Test(&request, &is_done, &status);
      if (is_pending(code))
        return end(request, pending, is_done, status);  // MPI speaks of the loss
      if (code != MPI_SUCCESS) is_done = 1;
      if (is_done == 0) continue;
      PMPI_Test_cancelled(&status, &is_cancelled);
      if (code != MPI_SUCCESS || is_cancelled == 0) return code;
      return end(request, pending, is_done, status);
    }
  }
  return is_left_alone(pending) ? end(request, pending, is_done, status) : MPI_SUCCESS;
}

int test_patiently(MPI_Request& request, std::optional<Pending>& pending, int& is_done,
                   MPI_Status& status) {
  const int code = PMPI_Test(&request, &is_done, &status);
  if (code != MPI_SUCCESS || is_done != 0 || !pending || !is_given_up(*pending)) return code;
  return end_hopeless(request, *pending, is_done, status);
}

int wait_patiently(MPI_Request& request, std::optional<Pending> pending, MPI_Status& status) {
  Patience patience;
  for (;;) {
    int is_done = 0;
    const int code = test_patiently(request, pending, is_done, status);
    if (code != MPI_SUCCESS || is_done != 0) return code;
    patience.pause();
  }
}

int test_remembered(MPI_Request& request, int& is_done, MPI_Status& status) {
  const MPI_Request before = request;
  std::optional<Pending> pending = recall(request);
  const int code = test_patiently(request, pending, is_done, status);
  if (is_done != 0 || request == MPI_REQUEST_NULL) {
    note_completion(pending, before, request);
  } else if (pending) {
    update(request, *pending);
  }
  return code;
}

// What is remembered is looked up once, and not each time that MPI is asked.
int wait_remembered(MPI_Request& request, MPI_Status& status) {
  const MPI_Request before = request;
  const std::optional<Pending> was = recall(request);
  const int code = wait_patiently(request, was, status);
  note_completion(was, before, request);
  return code;
}

}  // namespace resprout::shim
