// Sends that do not end as MPI says: those that a revocation has broken off, and those that were
// never given to it (unsent.hpp).
//
// Who receives nothing more on a revoked communicator tells those who wait for it, and Open MPI 5.0
// calls their sends complete then, as if somebody had received them; or somebody has, and threw the
// message away (handles/communicators/unwanted.hpp). So a send that needs its
// receiver (a synchronous one, or one that is too large to be sent at once) and whose end the
// program hears of on a communicator that is revoked by then ends with MPIX_ERR_REVOKED. What was
// sent at once is complete for its sender, and stays so.
//
// Thread rule: from any thread; one request belongs to one thread at a time, as MPI demands.
#pragma once

#include <mpi.h>

#include <optional>
#include <utility>

#include "mpi/handles/requests/request_record.hpp"

namespace resprout::shim {

// MPI says that a send on `comm` is complete, which needed its receiver: that may be because it is
// revoked. On one host the process that ended the send has heard of the revocation no
// earlier than this one could.
bool may_be_broken_off(MPI_Comm comm);

// The requests of a call that completes some.
class BrokenSends {
 public:
  BrokenSends(int count, MPI_Request* requests);
  BrokenSends(Recalled recalled, MPI_Request* requests)
      : requests_(requests), recalled_(std::move(recalled)) {}
  // Those that are over, however they have ended, are forgotten.
  ~BrokenSends() { recalled_.note_completions(requests_); }
  BrokenSends(const BrokenSends&) = delete;
  BrokenSends& operator=(const BrokenSends&) = delete;

  bool has_any() const { return !recalled_.is_empty(); }
  // How a send has ended, if not as MPI says.
  struct End {
    MPI_Comm comm;
    int code;
  };
  // The i-th is known to be one, whose peer may be lost.
  bool is_send(int i) const;
  // MPI says that the i-th is complete. To be asked once.
  std::optional<End> end_of(int i);
  // The first one from `first` on that MPI takes for inactive, but the program has started; -1:
  // there is none.
  int next_unsent(int first) const;

 private:
  MPI_Request* const requests_;
  const Recalled recalled_;
};

}  // namespace resprout::shim
