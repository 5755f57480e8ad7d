// Whom requests wait for, and waiting for them without ever blocking inside MPI.
//
// An MPI that notices losses (ULFM) ends the requests that they touch. For all others the shim
// remembers the peer of each request and, when that is lost, ends the request itself. Persistent
// requests are remembered always, because MPI_Start must not send to a lost process either; so are
// those on communicators of which MPI does not know who is in them (derived.hpp), and sends that do
// not end as MPI says (broken_sends.hpp).
//
// As soon as MPI has completed a request, another thread may be given its handle, and what that
// waits for is remembered under it. So each has a serial: who completes one recalls it before MPI
// can, and what is said of it afterwards changes nothing that has another serial.
//
// Thread rule: from any thread; one request belongs to one thread at a time, as MPI demands.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace resprout::shim {

class PersistentCopy;

struct RequestRecord {
  enum class Kind : std::uint8_t { send, receive };
  MPI_Comm comm = MPI_COMM_NULL;
  int peer = MPI_PROC_NULL;  // rank in comm, or MPI_ANY_SOURCE
  Kind kind = Kind::receive;
  bool is_persistent = false;
  PersistentCopy* copy = nullptr;    // what a persistent send sends from while flips are due
  bool is_started = !is_persistent;  // else it is inactive: there is nothing to wait for
  bool needs_receiver = false;       // a send that is not over before somebody receives it
  int unsent_code = MPI_SUCCESS;     // else nothing was sent (unsent.hpp), and it ends with this
  // Since its peer is known to be lost, or its communicator revoked: when that was, and how often
  // MPI was asked meanwhile.
  std::int64_t hopeless_since_ns = 0;
  int hopeless_looks = 0;
  bool is_taken_back = false;  // a receive that MPI was asked to cancel
  std::uint64_t serial = 0;    // among all that were remembered; 0: it was not
};

// As single-request calls of MPI write a status: without its MPI_ERROR.
inline void copy_status(const MPI_Status& from, MPI_Status* to) {
  if (to == MPI_STATUS_IGNORE) return;
  const int error = to->MPI_ERROR;
  *to = from;
  to->MPI_ERROR = error;
}

// Some are remembered: a load, to see that none is.
bool is_any_remembered();
// Remembers what `request` waits for, if that will be asked for. What had its handle before is
// over.
void remember(MPI_Request request, const RequestRecord& record);
std::optional<RequestRecord> recall(MPI_Request request);
// Before MPI frees it; or it is a new one of which nothing has to be remembered.
void forget(MPI_Request request);
// Some are remembered on that communicator, started or not.
bool has_requests_of(MPI_Comm comm);
// The communicator ends: what is still pending on it is MPI's business.
// How many there are, but for inactive ones.
int forget_requests_of(MPI_Comm comm);
// What is remembered of the request that was recalled as `record` changes.
void update(MPI_Request request, const RequestRecord& record);
// MPI_Start was called for it. `unsent_code`: of a send that MPI has not been given.
void note_start(MPI_Request request, int unsent_code = MPI_SUCCESS);
// MPI has completed it: `was` was recalled, and its handle was `before`, before that call; `after`
// is its handle now. False: its communicator may be freed by now.
bool note_completion(const std::optional<RequestRecord>& was, MPI_Request before,
                     MPI_Request after);

// The requests of a call that completes some, as they are remembered before it.
class Recalled {
 public:
  Recalled(int count, const MPI_Request* requests);

  // Nothing is remembered of any.
  bool is_empty() const { return entries_.empty(); }
  // Of the call's requests; 0 if nothing is remembered of any.
  int count() const { return static_cast<int>(entries_.size()); }
  const std::optional<RequestRecord>& operator[](int i) const;
  // MPI has completed the i-th, whose handle is `after` now. False: as above.
  bool note_completion(int i, MPI_Request after) const;
  // The same for all whose handles MPI has taken; they are in `requests` now.
  void note_completions(const MPI_Request* requests) const;

 private:
  struct Entry {
    MPI_Request request = MPI_REQUEST_NULL;
    std::optional<RequestRecord> record;
  };
  std::vector<Entry> entries_;
};

// MPI_Test and MPI_Wait for an MPI that does not notice losses: a request whose peer is lost, and
// whose message did not come before, ends with MPIX_ERR_PROC_FAILED. `status` is not ignored.
// `record`: what it waits for; nothing: that is not remembered, and MPI ends it.
int test_patiently(MPI_Request& request, std::optional<RequestRecord>& record, int& is_done,
                   MPI_Status& status);
int wait_patiently(MPI_Request& request, std::optional<RequestRecord> record, MPI_Status& status);
// The same for requests that are remembered (or complete, or none of ours).
int test_remembered(MPI_Request& request, int& is_done, MPI_Status& status);
int wait_remembered(MPI_Request& request, MPI_Status& status);

// Nobody will ever complete it as the program would have it: its peer was lost, and has been asked
// long enough for what it may have sent before; or its communicator is revoked.
bool is_given_up(RequestRecord& record);
// Ends such a request as soon as neither MPI nor its peer touches its buffer any more: until then
// `is_done` is 0. A receive is taken back; one whose message has begun to come gets all of it, and
// a send on a revoked communicator is over when its receiver has thrown it away
// (handles/communicators/unwanted.hpp). MPI_SUCCESS: its message had come after all.
int end_hopeless(MPI_Request& request, RequestRecord& record, int& is_done, MPI_Status& status);

}  // namespace resprout::shim
