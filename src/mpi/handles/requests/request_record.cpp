#include "mpi/handles/requests/request_record.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/calls_mutex.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/report/report.hpp"
#include "openmpi/local_failure.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// How long, and how often, MPI is asked for a message that a process may have sent before it was
// lost.
constexpr std::int64_t hopeless_ns_min = 20'000'000;
constexpr int hopeless_looks_min = 100;

struct Table {
  CallsMutex mutex;
  std::unordered_map<MPI_Request, RequestRecord> entries RESPROUT_GUARDED_BY(mutex);
  std::uint64_t last_serial RESPROUT_GUARDED_BY(mutex) = 0;
  // The last one when a communicator was freed.
  std::uint64_t freed_serial RESPROUT_GUARDED_BY(mutex) = 0;
  std::atomic<std::size_t> count{0};  // of the entries
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

void note_count() RESPROUT_REQUIRES(table().mutex) {
  table().count.store(table().entries.size(), std::memory_order_relaxed);
}

// Null: another request has its handle, or none.
RequestRecord* find_same(MPI_Request request, const RequestRecord& recalled)
    RESPROUT_REQUIRES(table().mutex) {
  const auto it = table().entries.find(request);
  const bool is_same = it != table().entries.end() && it->second.serial == recalled.serial;
  return is_same ? &it->second : nullptr;
}

// For what may have been sent before the loss.
bool is_asked_enough(const RequestRecord& record) {
  return record.hopeless_looks > hopeless_looks_min &&
         wall_clock_ns() - record.hopeless_since_ns > hopeless_ns_min;
}

// Nobody is left who could read or write the buffer, and MPI will not say so: where it notices
// losses, it ends what waits for the lost itself.
bool is_left_alone(const RequestRecord& record) {
  if (ulfm::is_active() && can_fail_locally()) return false;
  return is_asked_enough(record) && is_without_peer(record.comm, record.peer);
}

// What MPI still holds of it the program will hear no more of.
int end(MPI_Request& request, const RequestRecord& record, int& is_done, MPI_Status& status) {
  is_done = 1;
  if (request != MPI_REQUEST_NULL && !record.is_persistent) PMPI_Request_free(&request);
  note_communicator_in_error(record.comm);
  status.MPI_SOURCE = record.peer;
  status.MPI_ERROR = code_of_loss(record.comm);
  return status.MPI_ERROR;
}

}  // namespace

bool is_any_remembered() { return table().count.load(std::memory_order_relaxed) != 0; }

void remember(MPI_Request request, const RequestRecord& record) {
  if (request == MPI_REQUEST_NULL) return;
  if (ulfm::is_active() && !record.is_persistent && !record.needs_receiver &&
      record.unsent_code == MPI_SUCCESS && !is_derived(record.comm))
    return forget(request);
  const runtime::MutexLock lock(table().mutex);
  RequestRecord& entry = table().entries[request];
  entry = record;
  entry.serial = ++table().last_serial;
  note_count();
}

std::optional<RequestRecord> recall(MPI_Request request) {
  if (!is_any_remembered()) return std::nullopt;
  const runtime::MutexLock lock(table().mutex);
  const auto it = table().entries.find(request);
  if (it == table().entries.end()) return std::nullopt;
  return it->second;
}

void forget(MPI_Request request) {
  if (!is_any_remembered()) return;
  const runtime::MutexLock lock(table().mutex);
  table().entries.erase(request);
  note_count();
}

bool has_requests_of(MPI_Comm comm) {
  if (!is_any_remembered()) return false;
  const runtime::MutexLock lock(table().mutex);
  return std::ranges::any_of(table().entries,
                             [&](const auto& entry) { return entry.second.comm == comm; });
}

int forget_requests_of(MPI_Comm comm) {
  const runtime::MutexLock lock(table().mutex);
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
  std::optional<RequestRecord> record = recall(request);
  if (!record) return;
  record->is_started = true;
  record->unsent_code = unsent_code;
  record->is_taken_back = false;
  record->hopeless_looks = 0;
  update(request, *record);
}

bool note_completion(const std::optional<RequestRecord>& was, MPI_Request before,
                     MPI_Request after) {
  if (!was) return false;
  const runtime::MutexLock lock(table().mutex);
  RequestRecord* entry = find_same(before, *was);
  if (entry == nullptr) return was->serial > table().freed_serial;
  entry->is_started = false;
  entry->unsent_code = MPI_SUCCESS;
  if (after == MPI_REQUEST_NULL) table().entries.erase(before);
  note_count();
  return true;
}

// The state is kept between calls: a program may look as seldom as it likes.
void update(MPI_Request request, const RequestRecord& record) {
  const runtime::MutexLock lock(table().mutex);
  if (RequestRecord* entry = find_same(request, record)) *entry = record;
}

Recalled::Recalled(int count, const MPI_Request* requests) {
  if (count <= 0 || !is_any_remembered()) return;
  const runtime::MutexLock lock(table().mutex);
  for (int i = 0; i < count; ++i) {
    const auto it = table().entries.find(requests[i]);
    if (it == table().entries.end()) continue;
    entries_.resize(static_cast<std::size_t>(count));
    entries_[static_cast<std::size_t>(i)] = {requests[i], it->second};
  }
}

const std::optional<RequestRecord>& Recalled::operator[](int i) const {
  static const std::optional<RequestRecord> nothing;
  return entries_.empty() ? nothing : entries_[static_cast<std::size_t>(i)].record;
}

bool Recalled::note_completion(int i, MPI_Request after) const {
  if (entries_.empty()) return false;
  const Entry& entry = entries_[static_cast<std::size_t>(i)];
  return shim::note_completion(entry.record, entry.request, after);
}

void Recalled::note_completions(const MPI_Request* requests) const {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (requests[i] == MPI_REQUEST_NULL) note_completion(static_cast<int>(i), MPI_REQUEST_NULL);
}

bool is_given_up(RequestRecord& record) {
  if (!has_anything_happened() || !is_hopeless(record.comm, record.peer)) return false;
  if (record.hopeless_looks++ == 0) record.hopeless_since_ns = wall_clock_ns();
  return (is_any_revoked() && is_revoked(record.comm)) || is_asked_enough(record);
}

int end_hopeless(MPI_Request& request, RequestRecord& record, int& is_done, MPI_Status& status) {
  is_done = 0;
  if (record.kind == RequestRecord::Kind::receive && !record.is_taken_back) {
    record.is_taken_back = true;
    PMPI_Cancel(&request);
    for (int look = 0; look < hopeless_looks_min && is_done == 0; ++look) {
      int is_cancelled = 0;
      const int code = PMPI_Test(&request, &is_done, &status);
      if (is_pending(code)) return end(request, record, is_done, status);  // MPI speaks of the loss
      if (code != MPI_SUCCESS) is_done = 1;
      if (is_done == 0) continue;
      PMPI_Test_cancelled(&status, &is_cancelled);
      if (code != MPI_SUCCESS || is_cancelled == 0) return code;
      return end(request, record, is_done, status);
    }
  }
  return is_left_alone(record) ? end(request, record, is_done, status) : MPI_SUCCESS;
}

int test_patiently(MPI_Request& request, std::optional<RequestRecord>& record, int& is_done,
                   MPI_Status& status) {
  const int code = PMPI_Test(&request, &is_done, &status);
  if (code != MPI_SUCCESS || is_done != 0 || !record || !is_given_up(*record)) return code;
  return end_hopeless(request, *record, is_done, status);
}

int wait_patiently(MPI_Request& request, std::optional<RequestRecord> record, MPI_Status& status) {
  Patience patience;
  for (;;) {
    int is_done = 0;
    const int code = test_patiently(request, record, is_done, status);
    if (code != MPI_SUCCESS || is_done != 0) return code;
    patience.pause();
  }
}

int test_remembered(MPI_Request& request, int& is_done, MPI_Status& status) {
  const MPI_Request before = request;
  std::optional<RequestRecord> record = recall(request);
  const int code = test_patiently(request, record, is_done, status);
  if (is_done != 0 || request == MPI_REQUEST_NULL) {
    note_completion(record, before, request);
  } else if (record) {
    update(request, *record);
  }
  return code;
}

// What is remembered is looked up once, and not each time that MPI is asked.
int wait_remembered(MPI_Request& request, MPI_Status& status) {
  const MPI_Request before = request;
  const std::optional<RequestRecord> was = recall(request);
  const int code = wait_patiently(request, was, status);
  note_completion(was, before, request);
  return code;
}

}  // namespace resprout::shim
