#include "mpi/operations/p2p/completion.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/failures.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/requests/broken_sends.hpp"
#include "mpi/handles/requests/kept_ends.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

bool is_continuing() { return World::current()->options().on_loss != OnLoss::error; }

// What the lost should have said others say, under the request that the program has.
bool is_substituting() { return call_policy().stands_in(); }

// MPI has broken off a wildcard receive of this program, and it is for us to decide what becomes
// of it.
bool is_broken_off(const GuardedCall& call, int code) {
  if (is_substituting()) return false;
  return is_pending(code) && (is_continuing() || is_all_acknowledged(call.communicator_in_error()));
}

// Open MPI 5.0 goes on to speak of the loss if the message came just after it, and keeps the
// request.
int drop_received(MPI_Request& request) {
  const auto record = recall(request);
  if (!record || !record->is_persistent) PMPI_Request_free(&request);
  return MPI_SUCCESS;
}

// The request is complete or not, but nobody can say how the program would have it.
bool is_unresolved(const MPI_Status& status) {
  return status.MPI_ERROR == MPI_ERR_PENDING || is_pending(status.MPI_ERROR);
}

// What it waits for, if it belongs to a derived communicator: MPI notices only half of what may
// happen to it.
std::optional<RequestRecord> recall_on_derived(MPI_Request request) {
  if (!is_any_derived() || request == MPI_REQUEST_NULL) return std::nullopt;
  const auto record = recall(request);
  return record && is_derived(record->comm) ? record : std::nullopt;
}

bool is_on_derived(MPI_Request request) { return recall_on_derived(request).has_value(); }

bool is_any_on_derived(Requests requests) {
  if (!is_any_derived()) return false;
  return std::any_of(requests.handles, requests.handles + requests.count, is_on_derived);
}

// For an MPI that does not notice losses: the first request from `first` on whose peer is lost and
// that is over now; -1 if there is none. `code` tells how it ended.
int end_lost(Requests requests, int first, MPI_Status& status, int& code) {
  if (!has_anything_happened()) return -1;
  for (int i = first; i < requests.count; ++i) {
    const auto record = recall(requests[i]);
    if (!record || !record->is_started || record->unsent_code != MPI_SUCCESS ||
        !is_hopeless(record->comm, record->peer))
      continue;
    int flag = 0;
    code = test_remembered(requests[i], flag, status);
    if (flag != 0 || code != MPI_SUCCESS) return i;
  }
  return -1;
}

// MPI calls a request complete that waited for `was`: how it has ended.
int end_of(const std::optional<RequestRecord>& was, int code) {
  if (code != MPI_SUCCESS || !was || !was->needs_receiver || !may_be_broken_off(was->comm))
    return code;
  return code_of_loss(was->comm);
}

// What of an MPI_Testall was completed to see whether a loss has ended it, and has ended well. As
// long as others are open, and none of them has failed, the call says nothing of it.
class EndedWell {
 public:
  // The i-th request, which waited for `was`.
  void note(int i, const std::optional<RequestRecord>& was) {
    if (was && !was->is_persistent) indices_.push_back(i);
  }
  void keep(Requests requests, Statuses& statuses) const {
    for (const int i : indices_) keep_end(requests[i], statuses[i]);
  }

 private:
  std::vector<int> indices_;
};

int test_all_patiently(Requests requests, int& flag, Statuses& statuses) {
  const Recalled recalled(requests.count, requests.handles);
  int code = PMPI_Testall(requests.count, requests.handles, &flag, statuses.data());
  for (int i = 0; flag != 0 && i < requests.count; ++i) recalled.note_completion(i, requests[i]);
  if (code != MPI_SUCCESS || flag != 0) return code;
  for (int i = 0; i < requests.count; ++i)
    statuses[i].MPI_ERROR = requests[i] == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_ERR_PENDING;
  bool has_error = false;
  EndedWell ended_well;
  MPI_Status status;
  for (int i = end_lost(requests, 0, status, code); i >= 0;
       i = end_lost(requests, i + 1, status, code)) {
    code = end_of(recalled[i], code);
    statuses[i] = status;
    statuses[i].MPI_ERROR = code;
    has_error |= code != MPI_SUCCESS;
    if (code == MPI_SUCCESS) ended_well.note(i, recalled[i]);
  }
  flag = 1;
  for (int i = 0; i < requests.count; ++i)
    if (statuses[i].MPI_ERROR == MPI_ERR_PENDING) flag = 0;
  if (flag == 0 && !has_error) ended_well.keep(requests, statuses);
  return has_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

int test_any_patiently(Requests requests, int& index, int& flag, MPI_Status& status) {
  const Recalled recalled(requests.count, requests.handles);
  int code = PMPI_Testany(requests.count, requests.handles, &index, &flag, &status);
  if (flag != 0 && index != MPI_UNDEFINED) recalled.note_completion(index, requests[index]);
  if (code != MPI_SUCCESS || flag != 0) return code;
  index = end_lost(requests, 0, status, code);
  flag = index >= 0 ? 1 : 0;
  if (flag == 0) index = MPI_UNDEFINED;
  return code;
}

int test_some_patiently(Requests requests, int& outcount, int* indices, Statuses& statuses) {
  const Recalled recalled(requests.count, requests.handles);
  int code = PMPI_Testsome(requests.count, requests.handles, &outcount, indices, statuses.data());
  for (int k = 0; k < outcount; ++k) recalled.note_completion(indices[k], requests[indices[k]]);
  if (code != MPI_SUCCESS || outcount != 0) return code;
  bool has_error = false;
  MPI_Status status;
  for (int i = end_lost(requests, 0, status, code); i >= 0;
       i = end_lost(requests, i + 1, status, code)) {
    statuses[outcount] = status;
    statuses[outcount].MPI_ERROR = code;
    indices[outcount++] = i;
    has_error |= code != MPI_SUCCESS;
  }
  return has_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

// Of the requests that MPI says are over, leaves out the wildcard receives that go on.
int without_resumed(const GuardedCall& call, Requests requests, int& outcount, int* indices,
                    Statuses& statuses) {
  int kept = 0;
  bool has_error = false;
  for (int k = 0; k < outcount; ++k) {
    const int i = indices[k];
    MPI_Status status = statuses[k];
    if (is_pending(status.MPI_ERROR)) {
      int flag = 0;
      status.MPI_ERROR = test_one(call, requests[i], flag, status);
      if (flag == 0) continue;
    }
    has_error |= status.MPI_ERROR != MPI_SUCCESS;
    statuses[kept] = status;
    indices[kept++] = i;
  }
  outcount = kept;
  return has_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

// One call of MPI cannot speak for all of them: it knows too little of a derived communicator. And
// where several have failed Open MPI 5.0 speaks of one, and takes the handle of another.
bool has_to_go_in_turn(Requests requests) {
  return is_any_on_derived(requests) || (ulfm::is_active() && has_anything_happened());
}

// MPI_Testany of one request, on a derived communicator.
int test_the_one(const GuardedCall& call, MPI_Request& request, int& index, int& flag,
                 MPI_Status& status) {
  const auto record = recall(request);
  const bool is_started = !record || record->is_started;
  const int code = test_one(call, request, flag, status);
  index = is_started && (flag != 0 || code != MPI_SUCCESS) ? 0 : MPI_UNDEFINED;
  return code;
}

// One after the other, where one call of MPI cannot speak for all.
int test_any_in_turn(const GuardedCall& call, Requests requests, int& index, int& flag,
                     MPI_Status& status) {
  bool is_any_active = false;
  for (int i = 0; i < requests.count; ++i) {
    const int code = test_any(call, {1, &requests[i]}, index, flag, status);
    if (flag != 0 && index == MPI_UNDEFINED) continue;
    is_any_active = true;
    if (flag == 0 && code == MPI_SUCCESS) continue;
    index = i;
    return code;
  }
  index = MPI_UNDEFINED;
  flag = is_any_active ? 0 : 1;
  return MPI_SUCCESS;
}

int test_some_in_turn(const GuardedCall& call, Requests requests, int& outcount, int* indices,
                      Statuses& statuses) {
  bool is_any_active = false;
  bool has_error = false;
  outcount = 0;
  for (int i = 0; i < requests.count; ++i) {
    int index = 0;
    int flag = 0;
    MPI_Status status;
    const int code = test_any(call, {1, &requests[i]}, index, flag, status);
    if (flag != 0 && index == MPI_UNDEFINED) continue;
    is_any_active = true;
    if (flag == 0 && code == MPI_SUCCESS) continue;
    has_error |= code != MPI_SUCCESS;
    statuses[outcount] = status;
    statuses[outcount].MPI_ERROR = code;
    indices[outcount++] = i;
  }
  if (!is_any_active) outcount = MPI_UNDEFINED;
  return has_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

// None is completed before all can be, but for those that a loss ends.
int test_all_in_turn(const GuardedCall& call, Requests requests, int& flag, Statuses& statuses) {
  bool has_error = false;
  EndedWell ended_well;
  flag = 1;
  for (int i = 0; i < requests.count; ++i) {
    int is_done = 1;
    statuses[i].MPI_ERROR = MPI_SUCCESS;
    if (requests[i] == MPI_REQUEST_NULL) continue;
    int code = PMPI_Request_get_status(requests[i], &is_done, &statuses[i]);
    if (is_broken_off(call, code)) {
      acknowledge_to_mpi(call.communicator_in_error());
      code = PMPI_Request_get_status(requests[i], &is_done, &statuses[i]);
    }
    const auto record = recall(requests[i]);
    const bool is_lost = is_done == 0 && record && record->is_started && has_anything_happened() &&
                         is_hopeless(record->comm, record->peer);
    if (code != MPI_SUCCESS || is_lost) {
      code = end_of(record, test_one(call, requests[i], is_done, statuses[i]));
      if (code == MPI_SUCCESS && is_done != 0) ended_well.note(i, record);
    }
    has_error |= code != MPI_SUCCESS;
    if (is_done == 0) flag = 0;
    statuses[i].MPI_ERROR = code != MPI_SUCCESS || is_done != 0 ? code : MPI_ERR_PENDING;
  }
  // What the call says is over has to be.
  for (int i = 0; has_error && i < requests.count; ++i) {
    int is_done = 1;
    if (statuses[i].MPI_ERROR == MPI_SUCCESS && requests[i] != MPI_REQUEST_NULL)
      statuses[i].MPI_ERROR = test_one(call, requests[i], is_done, statuses[i]);
  }
  if (has_error) return MPI_ERR_IN_STATUS;
  ended_well.keep(requests, statuses);
  return flag != 0 ? wait_all(call, requests, statuses) : MPI_SUCCESS;
}

// As test_one, where MPI notices losses.
int test_noticing(const GuardedCall& call, MPI_Request& request, int& flag, MPI_Status& status) {
  for (;;) {
    const int code = PMPI_Test(&request, &flag, &status);
    if (!is_broken_off(call, code)) {
      if (is_loss(code) && !is_pending(code)) flag = 1;
      return code;
    }
    if (flag != 0) return drop_received(request);
    const MPI_Comm comm = call.communicator_in_error();
    if (is_hopeless(comm, MPI_ANY_SOURCE)) {
      RequestRecord record{comm, MPI_ANY_SOURCE};
      if (const auto known = recall(request)) record.is_persistent = known->is_persistent;
      return end_hopeless(request, record, flag, status);
    }
    acknowledge_to_mpi(comm);
  }
}

// On a derived communicator MPI knows neither who else is in it nor that it is revoked.
int test_derived(const GuardedCall& call, MPI_Request& request, RequestRecord record, int& flag,
                 MPI_Status& status) {
  const MPI_Request before = request;
  int code = test_noticing(call, request, flag, status);
  if (flag != 0 || code != MPI_SUCCESS) {
    name_source(record.comm, &status);
  } else if (!is_substituting() && is_given_up(record)) {
    code = end_hopeless(request, record, flag, status);
    if (flag != 0 && code == MPI_SUCCESS) name_source(record.comm, &status);
  }
  if (flag != 0 || request == MPI_REQUEST_NULL) {
    note_completion(record, before, request);
  } else {
    update(before, record);
  }
  return code;
}

}  // namespace

Statuses::Statuses(int count, MPI_Status* of_program) : data_(of_program) {
  if (of_program != MPI_STATUSES_IGNORE) return;
  data_ = few_.data();
  if (count <= static_cast<int>(few_.size())) return;
  many_.resize(static_cast<std::size_t>(count));
  data_ = many_.data();
}

int test_one(const GuardedCall& call, MPI_Request& request, int& flag, MPI_Status& status) {
  if (const auto record = recall_on_derived(request))
    return test_derived(call, request, *record, flag, status);
  if (!ulfm::is_active()) return test_remembered(request, flag, status);
  return test_noticing(call, request, flag, status);
}

int wait_one(const GuardedCall& call, MPI_Request& request, MPI_Status& status) {
  if (!ulfm::is_active() && !is_on_derived(request)) return wait_remembered(request, status);
  Patience patience;
  while (is_any_under_way() || is_on_derived(request)) {
    int is_done = 0;
    const int code = test_one(call, request, is_done, status);
    if (is_done != 0 || code != MPI_SUCCESS) return code;
    patience.pause();
  }
  for (;;) {
    int code = PMPI_Wait(&request, &status);
    if (!is_broken_off(call, code)) return code;
    int is_done = 0;
    code = test_one(call, request, is_done, status);
    if (is_done != 0 || code != MPI_SUCCESS) return code;
  }
}

int wait_all(const GuardedCall& call, Requests requests, Statuses& statuses) {
  const bool is_noticing = ulfm::is_active() && !is_any_under_way() && !is_any_on_derived(requests);
  if (is_noticing) {
    const int code = PMPI_Waitall(requests.count, requests.handles, statuses.data());
    if (code != MPI_ERR_IN_STATUS || !is_continuing()) return code;
  }
  // One after the other: MPI makes progress on all of them meanwhile.
  bool has_error = false;
  for (int i = 0; i < requests.count; ++i) {
    if (!is_noticing || is_unresolved(statuses[i]))
      statuses[i].MPI_ERROR = wait_one(call, requests[i], statuses[i]);
    has_error |= statuses[i].MPI_ERROR != MPI_SUCCESS;
  }
  return has_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

int test_all(const GuardedCall& call, Requests requests, int& flag, Statuses& statuses) {
  if (is_any_on_derived(requests)) return test_all_in_turn(call, requests, flag, statuses);
  if (!ulfm::is_active()) return test_all_patiently(requests, flag, statuses);
  for (int i = 0; i < requests.count; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
  const int code = PMPI_Testall(requests.count, requests.handles, &flag, statuses.data());
  if (code != MPI_ERR_IN_STATUS || !is_continuing()) return code;
  // If it speaks of wildcards, the others are as they were.
  bool has_error = false;
  for (int i = 0; i < requests.count; ++i) {
    int error = statuses[i].MPI_ERROR;
    if (is_pending(error)) {
      int is_done = 0;
      error = test_one(call, requests[i], is_done, statuses[i]);
      if (is_done == 0) error = MPI_ERR_PENDING;
    }
    statuses[i].MPI_ERROR = error;
    has_error |= error != MPI_SUCCESS && error != MPI_ERR_PENDING;
  }
  return has_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

int test_any(const GuardedCall& call, Requests requests, int& index, int& flag,
             MPI_Status& status) {
  if (requests.count > 1 && has_to_go_in_turn(requests))
    return test_any_in_turn(call, requests, index, flag, status);
  if (is_any_on_derived(requests)) return test_the_one(call, requests[0], index, flag, status);
  if (!ulfm::is_active()) return test_any_patiently(requests, index, flag, status);
  for (;;) {
    int code = PMPI_Testany(requests.count, requests.handles, &index, &flag, &status);
    if (is_loss(code) && !is_pending(code)) flag = 1;
    if (!is_broken_off(call, code)) return code;
    code = test_one(call, requests[index], flag, status);
    if (flag != 0) return code;
  }
}

// Never MPI_Waitany itself: for a wildcard that a loss breaks off, Open MPI 5.0 leaves a pointer to
// its own stack in the request, and writes there when the message comes.
int wait_any(const GuardedCall& call, Requests requests, int& index, MPI_Status& status) {
  Patience patience;
  for (;;) {
    int flag = 0;
    const int code = test_any(call, requests, index, flag, status);
    if (code != MPI_SUCCESS || flag != 0) return code;
    patience.pause();
  }
}

// Never MPI_Waitsome itself: where a loss has ended one request, Open MPI 5.0 calls others complete
// that are not, and writes to their buffers when their messages come.
int wait_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
              Statuses& statuses) {
  Patience patience;
  for (;;) {
    const int code = test_some(call, requests, outcount, indices, statuses);
    if (code != MPI_SUCCESS || outcount != 0) return code;
    patience.pause();
  }
}

int test_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
              Statuses& statuses) {
  if (has_to_go_in_turn(requests))
    return test_some_in_turn(call, requests, outcount, indices, statuses);
  if (!ulfm::is_active()) return test_some_patiently(requests, outcount, indices, statuses);
  const int code =
      PMPI_Testsome(requests.count, requests.handles, &outcount, indices, statuses.data());
  if (code != MPI_ERR_IN_STATUS || !is_continuing()) return code;
  return without_resumed(call, requests, outcount, indices, statuses);
}

}  // namespace resprout::shim
