// The sends of MPI_Isendrecv and MPI_Isendrecv_replace, and buffered ones, which have no receive.
// Open MPI 5.0's own calls never complete if their peer is lost; ours are a receive and a send.
//
// The program's request is that of the receive, so every call takes it, and whatever is done for
// receives is done for it: losses, wildcards, verification. What is sent is a copy, so that the
// program may have its buffer back as soon as the receive is complete. A call that waits for the
// request (MPI_Wait, MPI_Waitall) waits for the send too; from others it is left behind, and ends
// in a later call, at last in MPI_Finalize. What a loss has done to the send is said by the call
// that completes the request.
//
// While a call that may complete the receive is under way, its send belongs to that call and has no
// name: as soon as MPI has completed it, another thread may be given a receive of the same handle.
//
// Thread rule: from any thread; one request belongs to one thread at a time, as MPI demands.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <list>
#include <optional>
#include <vector>

#include "mpi/handles/datatypes/send_buffer.hpp"

namespace resprout::shim {

struct SendHalf {
  Sending sending{};
  int world_rank = MPI_UNDEFINED;          // of who it is sent to
  std::vector<std::byte> bytes;            // that MPI reads
  MPI_Request request = MPI_REQUEST_NULL;  // not: it is over
  int code = MPI_SUCCESS;                  // how it has ended
  bool is_buffered = false;                // of MPI_Bsend and its kin (buffered_sends.hpp)
};

// Begins to send what is in `half.bytes`, as `sent` says. Never waits for the receiver.
int begin_half(SendHalf& half, const SendBuffer& sent);

// `receive` is the request of the other half, or MPI_REQUEST_NULL: there is none.
void keep_send_half(MPI_Request receive, SendHalf half);

// The requests of a call that completes some.
class SendHalves {
 public:
  enum class Then { wait, leave };  // with sends that are not over yet

  SendHalves(int count, MPI_Request* requests, Then then);
  // Those of receives that are over, however they have ended, are left behind; others have their
  // names again.
  ~SendHalves();
  SendHalves(const SendHalves&) = delete;
  SendHalves& operator=(const SendHalves&) = delete;

  bool has_any() const { return !held_.empty(); }
  // The i-th receive is complete: how its send has ended, as far as that is known. Losses have been
  // with the error handler of its communicator.
  int result_of(int i);

 private:
  struct Held {
    MPI_Request receive = MPI_REQUEST_NULL;
    std::optional<std::list<SendHalf>::iterator> half;  // nothing: it has none, or that was seen to
  };

  MPI_Request* const requests_;
  const Then then_;
  std::vector<Held> held_;
};

// How many bytes the buffered ones hold that are not over.
std::size_t buffered_bytes();
// Returns when none is left.
void finish_buffered();

// The program has freed it.
void forget_send_half(MPI_Request receive);
// The communicator is going to be freed.
void leave_send_halves(MPI_Comm comm);
// At MPI_Finalize: returns when all are over.
void finish_send_halves();

}  // namespace resprout::shim
