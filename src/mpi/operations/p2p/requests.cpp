// MPI_Wait, MPI_Test and their families, MPI_Request_get_status, MPI_Request_free, MPI_Cancel.
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/unanswered.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/openmpi/failed_requests.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/p2p/buffered_sends.hpp"
#include "mpi/operations/p2p/completion.hpp"
#include "mpi/operations/p2p/decided_completion.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/refusal.hpp"
#include "mpi/policies/replicas/verified_requests.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/world.hpp"

using namespace resprout::shim;

namespace {

// The MPI library knows what to say of what is missing.
template <typename... Places>
bool is_any_null(const Places*... places) {
  return ((places == nullptr) || ...);
}

bool are_there(int count, const MPI_Request* requests) {
  return count == 0 || (count > 0 && requests != nullptr);
}

// Of a send, of which MPI says nothing.
MPI_Status empty_status() {
  MPI_Status status{};
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  status.MPI_ERROR = MPI_SUCCESS;
  return status;
}

// Open MPI says of a send that a loss has ended by whom it was; of a receive from whom it should
// have come, and no tag.
bool is_own_send(const GuardedCall& call, const MPI_Status& status) {
  int rank = MPI_PROC_NULL;
  if (status.MPI_TAG >= 0) PMPI_Comm_rank(call.communicator_in_error(), &rank);
  return rank >= 0 && status.MPI_SOURCE == rank;
}

// The i-th request was ended by a loss, with `status`.
Lacks lacked_by_request(const GuardedCall& call, const Watch& watch, int i,
                        const MPI_Status& status) {
  const bool is_known = i != MPI_UNDEFINED && watch.is_send(i);
  return is_known || is_own_send(call, status) ? Lacks::nothing : Lacks::data;
}

int finish_request(GuardedCall& call, const Watch& watch, int code, int i,
                   const MPI_Status& status) {
  return is_loss(code) ? call.finish(code, lacked_by_request(call, watch, i, status)) : code;
}

// MPI_ERR_IN_STATUS says nothing by itself: one error that a loss caused goes to the handler, the
// first that lacks data or, if none does, the first. `indices`: as below.
int finish_statuses(GuardedCall& call, Watch& watch, int code, int count, const int* indices,
                    Statuses& statuses) {
  if (code != MPI_ERR_IN_STATUS) return call.finish(code);
  int told = MPI_SUCCESS;
  Lacks lacks = Lacks::nothing;
  for (int k = 0; k < count; ++k) {
    int& error = statuses[k].MPI_ERROR;
    if (!is_loss(error)) continue;
    error = as_told(error);
    const int i = indices != nullptr ? indices[k] : k;
    const Lacks lacked = lacked_by_request(call, watch, i, statuses[k]);
    if (told != MPI_SUCCESS && (lacked == Lacks::nothing || lacks == Lacks::data)) continue;
    told = error;
    lacks = lacked;
  }
  call.finish(told, lacks);
  if (is_told(told, lacks)) watch.note_told();
  return code;
}

// `code` and `statuses`: what MPI says of `count` requests that are over, those with `indices`
// (null: the first ones). Says in the same words how those ended that are collectives.
int with_collectives(Watch& watch, int code, int count, const int* indices, Statuses& statuses) {
  if (!watch.is_watching()) return code;
  for (int k = 0; k < count; ++k) {
    const bool is_said = code == MPI_ERR_IN_STATUS && statuses[k].MPI_ERROR != MPI_SUCCESS;
    const int result = is_said ? MPI_SUCCESS : watch.result_of(indices != nullptr ? indices[k] : k);
    if (result == MPI_SUCCESS) continue;
    for (int i = 0; code == MPI_SUCCESS && i < count; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    statuses[k].MPI_ERROR = result;
    code = MPI_ERR_IN_STATUS;
  }
  return code;
}

// A send that was never given to MPI, which therefore takes its persistent request for inactive, is
// over as soon as a call asks: says of one that it is the one. False: there is none.
bool take_unsent(const Watch& watch, int& index, MPI_Status& status) {
  const int found = watch.next_unsent(0);
  if (found < 0) return false;
  index = found;
  status = empty_status();
  return true;
}

// The same, of all of them.
bool take_all_unsent(const Watch& watch, int& outcount, int* indices, Statuses& statuses) {
  int count = 0;
  for (int i = watch.next_unsent(0); i >= 0; i = watch.next_unsent(i + 1)) {
    statuses[count] = empty_status();
    indices[count++] = i;
  }
  if (count > 0) outcount = count;
  return count > 0;
}

int first_error(int code, int later) { return code != MPI_SUCCESS ? code : later; }

// Hands the k-th of the requests that are over, which has index `i`, to who verifies it.
void complete_verified(VerifiedRequests& verified, Requests requests, int i, int k, int& code,
                       Statuses& statuses) {
  const int result = verified.complete(i, requests[i], statuses[k]);
  if (result == MPI_SUCCESS) return;
  for (int j = 0; code == MPI_SUCCESS && j < requests.count; ++j)
    statuses[j].MPI_ERROR = MPI_SUCCESS;
  statuses[k].MPI_ERROR = result;
  code = MPI_ERR_IN_STATUS;
}

// Of those that a loss has ended, others may say how they should have.
int after_losses(VerifiedRequests& verified, int code, Requests requests, int count,
                 const int* indices, Statuses& statuses) {
  if (code != MPI_ERR_IN_STATUS) return code;
  bool has_error = false;
  for (int k = 0; k < count; ++k) {
    const int i = indices != nullptr ? indices[k] : k;
    int& error = statuses[k].MPI_ERROR;
    error = verified.recover(error, i, requests[i], statuses[k]);
    has_error |= error != MPI_SUCCESS;
  }
  return has_error ? code : MPI_SUCCESS;
}

}  // namespace

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  GuardedCall call("wait");
  if (!call.is_ours() || is_any_null(request)) return PMPI_Wait(request, status);
  if (maybe_wait_apart(*request)) {
    copy_status(empty_status(), status);
    return MPI_SUCCESS;
  }
  Watch watch(1, request, Watch::Then::wait);
  VerifiedRequests verified(1, request);
  const AskedRequests asked_requests(1, request);
  MPI_Status found = empty_status();
  int code = verified.recover(wait_one(call, *request, found), 0, *request, found);
  if (!is_loss(code)) code = first_error(code, verified.complete(0, *request, found));
  copy_status(found, status);
  return code == MPI_SUCCESS ? watch.result_of(0) : finish_request(call, watch, code, 0, found);
}

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  GuardedCall call("test");
  if (!call.is_ours() || is_any_null(request, flag)) return PMPI_Test(request, flag, status);
  if (maybe_test_apart(*request)) {
    copy_status(empty_status(), status);
    *flag = 1;
    return MPI_SUCCESS;
  }
  Watch watch(1, request);
  VerifiedRequests verified(1, request);
  const AskedRequests asked_requests(1, request);
  MPI_Status found = empty_status();
  int code = test_same(call, *request, *flag, found);
  if (*flag != 0) code = verified.recover(code, 0, *request, found);
  if (*flag != 0) code = first_error(code, verified.complete(0, *request, found));
  if (*flag != 0) copy_status(found, status);
  return code == MPI_SUCCESS && *flag != 0 ? watch.result_of(0)
                                           : finish_request(call, watch, code, 0, found);
}

extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status* array_of_statuses) {
  GuardedCall call("waitall");
  if (!call.is_ours() || !are_there(count, requests))
    return PMPI_Waitall(count, requests, array_of_statuses);
  for (int i = 0; i < count; ++i) maybe_wait_apart(requests[i]);
  Watch watch(count, requests, Watch::Then::wait);
  VerifiedRequests verified(count, requests);
  const AskedRequests asked_requests(count, requests);
  Statuses statuses(count, array_of_statuses);
  int code = wait_all(call, {count, requests}, statuses);
  verified.note_over(code, count, nullptr, statuses.data());
  code = after_losses(verified, code, {count, requests}, count, nullptr, statuses);
  for (int i = 0; i < count; ++i)
    if (code == MPI_SUCCESS || !is_loss(statuses[i].MPI_ERROR))
      complete_verified(verified, {count, requests}, i, i, code, statuses);
  code = finish_statuses(call, watch, code, count, nullptr, statuses);
  return with_collectives(watch, code, count, nullptr, statuses);
}

extern "C" int MPI_Testall(int count, MPI_Request requests[], int* flag,
                           MPI_Status array_of_statuses[]) {
  GuardedCall call("testall");
  if (!call.is_ours() || !are_there(count, requests) || is_any_null(flag))
    return PMPI_Testall(count, requests, flag, array_of_statuses);
  Watch watch(count, requests);
  VerifiedRequests verified(count, requests);
  const AskedRequests asked_requests(count, requests);
  Statuses statuses(count, array_of_statuses);
  int code = test_same_all(call, {count, requests}, *flag, statuses);
  if (*flag != 0) verified.note_over(code, count, nullptr, statuses.data());
  if (*flag != 0) code = after_losses(verified, code, {count, requests}, count, nullptr, statuses);
  for (int i = 0; *flag != 0 && i < count; ++i)
    complete_verified(verified, {count, requests}, i, i, code, statuses);
  code = finish_statuses(call, watch, code, count, nullptr, statuses);
  return *flag != 0 ? with_collectives(watch, code, count, nullptr, statuses) : code;
}

extern "C" int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  GuardedCall call("waitany");
  if (!call.is_ours() || !are_there(count, requests) || is_any_null(index))
    return PMPI_Waitany(count, requests, index, status);
  Watch watch(count, requests);
  VerifiedRequests verified(count, requests);
  const AskedRequests asked_requests(count, requests);
  MPI_Status found = empty_status();
  if (take_unsent(watch, *index, found)) {
    copy_status(found, status);
    return watch.result_of(*index);
  }
  int code = wait_same_any(call, {count, requests}, *index, found);
  if (*index != MPI_UNDEFINED) verified.note_over(code, 1, index, &found);
  if (*index != MPI_UNDEFINED) code = verified.recover(code, *index, requests[*index], found);
  if (*index != MPI_UNDEFINED)
    code = first_error(code, verified.complete(*index, requests[*index], found));
  copy_status(found, status);
  const bool is_done = code == MPI_SUCCESS && *index != MPI_UNDEFINED;
  return is_done ? watch.result_of(*index) : finish_request(call, watch, code, *index, found);
}

extern "C" int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                           MPI_Status* status) {
  GuardedCall call("testany");
  if (!call.is_ours() || !are_there(count, requests) || is_any_null(index, flag))
    return PMPI_Testany(count, requests, index, flag, status);
  Watch watch(count, requests);
  VerifiedRequests verified(count, requests);
  const AskedRequests asked_requests(count, requests);
  MPI_Status found = empty_status();
  if (take_unsent(watch, *index, found)) {
    *flag = 1;
    copy_status(found, status);
    return watch.result_of(*index);
  }
  int code = test_same_any(call, {count, requests}, *index, *flag, found);
  if (*flag != 0 && *index != MPI_UNDEFINED) verified.note_over(code, 1, index, &found);
  if (*flag != 0 && *index != MPI_UNDEFINED)
    code = verified.recover(code, *index, requests[*index], found);
  if (*flag != 0 && *index != MPI_UNDEFINED)
    code = first_error(code, verified.complete(*index, requests[*index], found));
  if (*flag != 0) copy_status(found, status);
  const bool is_done = code == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED;
  return is_done ? watch.result_of(*index) : finish_request(call, watch, code, *index, found);
}

extern "C" int MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                            MPI_Status array_of_statuses[]) {
  GuardedCall call("waitsome");
  if (!call.is_ours() || !are_there(incount, requests) || is_any_null(outcount, indices))
    return PMPI_Waitsome(incount, requests, outcount, indices, array_of_statuses);
  Watch watch(incount, requests);
  VerifiedRequests verified(incount, requests);
  const AskedRequests asked_requests(incount, requests);
  Statuses statuses(incount, array_of_statuses);
  if (take_all_unsent(watch, *outcount, indices, statuses))
    return with_collectives(watch, MPI_SUCCESS, *outcount, indices, statuses);
  int code = wait_same_some(call, {incount, requests}, *outcount, indices, statuses);
  verified.note_over(code, *outcount, indices, statuses.data());
  code = after_losses(verified, code, {incount, requests}, *outcount, indices, statuses);
  for (int k = 0; k < *outcount; ++k)
    complete_verified(verified, {incount, requests}, indices[k], k, code, statuses);
  code = finish_statuses(call, watch, code, *outcount, indices, statuses);
  return with_collectives(watch, code, *outcount, indices, statuses);
}

extern "C" int MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                            MPI_Status array_of_statuses[]) {
  GuardedCall call("testsome");
  if (!call.is_ours() || !are_there(incount, requests) || is_any_null(outcount, indices))
    return PMPI_Testsome(incount, requests, outcount, indices, array_of_statuses);
  Watch watch(incount, requests);
  VerifiedRequests verified(incount, requests);
  const AskedRequests asked_requests(incount, requests);
  Statuses statuses(incount, array_of_statuses);
  if (take_all_unsent(watch, *outcount, indices, statuses))
    return with_collectives(watch, MPI_SUCCESS, *outcount, indices, statuses);
  int code = test_same_some(call, {incount, requests}, *outcount, indices, statuses);
  verified.note_over(code, *outcount, indices, statuses.data());
  code = after_losses(verified, code, {incount, requests}, *outcount, indices, statuses);
  for (int k = 0; k < *outcount; ++k)
    complete_verified(verified, {incount, requests}, indices[k], k, code, statuses);
  code = finish_statuses(call, watch, code, *outcount, indices, statuses);
  return with_collectives(watch, code, *outcount, indices, statuses);
}

namespace {

// A loss has ended the request: nobody will ever answer it, and where MPI knows that, it says so
// from here on. `status` is written as the next call that completes it will.
bool is_ended_by_loss(MPI_Request request, MPI_Status* status) {
  if (World::current() == nullptr || !has_anything_happened()) return false;
  if (call_policy().stands_in()) return false;
  int flag = 0;
  if (is_failed_in_mpi(request)) PMPI_Request_get_status(request, &flag, status);
  if (flag != 0) return true;
  std::optional<RequestRecord> record = recall(request);
  if (!record || !record->is_started || !is_given_up(*record)) {
    if (record) update(request, *record);
    return false;
  }
  if (status != MPI_STATUS_IGNORE) *status = empty_status();
  if (status != MPI_STATUS_IGNORE) status->MPI_SOURCE = address_of(record->comm, record->peer).peer;
  return true;
}

// `status` is written if it is complete.
int look_at(MPI_Request request, int& flag, MPI_Status* status) {
  MPI_Request asked = request;
  const AskedRequests asked_requests(1, &asked);
  const int code = PMPI_Request_get_status(asked, &flag, status);
  if (code == MPI_SUCCESS && flag == 0) flag = is_ended_by_loss(asked, status) ? 1 : 0;
  if (code != MPI_SUCCESS || flag == 0) return code;
  if (Receives* by = receives(); by != nullptr && by->describe(request, status)) return code;
  if (!is_any_derived()) return code;
  if (const auto record = recall(request)) name_source(record->comm, status);
  return code;
}

// It is complete where that is decided: until it is here.
int look_until_complete(MPI_Request request, int& flag, MPI_Status* status) {
  Patience patience;
  for (;;) {
    const int code = look_at(request, flag, status);
    if (code != MPI_SUCCESS || flag != 0) return code;
    patience.pause();
  }
}

// It is a collective, and not over. Drives the engine for a moment.
bool is_under_way(MPI_Request request) {
  if (!is_collective(request)) return false;
  hand_all_to_mpi(1, &request);
  drive();
  int is_over = 0;
  PMPI_Request_get_status(request, &is_over, MPI_STATUS_IGNORE);
  return is_over == 0;
}

}  // namespace

// Local, but a program may ask nothing else until its collective is over.
extern "C" int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (is_any_null(flag)) return PMPI_Request_get_status(request, flag, status);
  hand_all_to_mpi(1, &request);
  drive();
  Decided* by = decided.load(std::memory_order_acquire);
  if (by == nullptr) return look_at(request, *flag, status);
  int code = MPI_SUCCESS;
  bool is_own = false;
  const bool is_done = by->get_status([&] {
    code = look_at(request, *flag, status);
    is_own = code != MPI_SUCCESS || *flag != 0;
    return is_own;
  });
  *flag = is_done ? 1 : 0;
  if (is_done && !is_own) code = look_until_complete(request, *flag, status);
  if (Receives* receiver = receives(); is_done && receiver != nullptr)
    receiver->wait_for_recalled(request, status);
  return code;
}

extern "C" int MPI_Request_free(MPI_Request* request) {
  if (is_any_null(request)) return PMPI_Request_free(request);
  GuardedCall call("request_free");
  const MPI_Request before = call.is_ours() ? *request : MPI_REQUEST_NULL;
  if (is_under_way(before)) {  // MPI's error, by its own words
    MPI_Request nothing = MPI_REQUEST_NULL;
    return PMPI_Request_free(&nothing);
  }
  if (Messages* messages = verified_messages.load(std::memory_order_acquire)) {
    Receives* by = receives();
    if (messages->is_receiving(before) || (by != nullptr && by->is_active(before)))
      refuse_unverifiable("MPI_Request_free", "of a receive leaves open when it is complete");
    if (by != nullptr) by->forget(before);
    messages->forget(before);
    forget_compared(before);
    forget_lone_start(before);
  }
  if (call.is_ours()) {
    forget(before);
    forget_send_half(before);
    forget_buffered(before);
    forget_collective(before);
  }
  return call.finish(PMPI_Request_free(request));
}

// Never waits. A cancelled request still has to be completed, and that may meet a loss.
// A collective cannot be cancelled.
extern "C" int MPI_Cancel(MPI_Request* request) {
  if (is_any_null(request)) return PMPI_Cancel(request);
  GuardedCall call("cancel");
  if (call.is_ours() && is_collective(*request))
    return finish(MPI_COMM_WORLD, "cancel", MPI_ERR_REQUEST);
  if (Receives* by = receives(); by != nullptr && by->maybe_cancel(*request)) return MPI_SUCCESS;
  refuse_if_verified("MPI_Cancel", "may be successful in one replica and not in another");
  return call.finish(PMPI_Cancel(request));
}
