// The requests of collectives that go on without being waited for.
//
// Such a request is a receive of no bytes from this process itself, on a communicator of its own;
// when the collective is over, a thread of the program sends the message. So every MPI call takes
// it, together with requests of any kind, and persistent ones are persistent receives. How the
// collective ended is said by the call that completes the request.
// That message takes longer than a small collective does. So the receive is a persistent one that
// is not started at first, and mostly never: MPI_Wait, MPI_Waitall and MPI_Test ask the collective
// itself. Any other call that is given the request has it started before MPI looks at it.
//
// Somebody has to drive the engine while the program waits inside MPI: while a collective is under
// way, calls that wait look again and again instead, and drive it in between.
//
// Thread rule: from any thread of the program; without the engine's lock unless said.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/send_halves.hpp"
#include "mpi/handles/error_handlers/unanswered.hpp"
#include "mpi/handles/requests/broken_sends.hpp"

namespace resprout::shim {

class OwnSession;
class SmallCollective;
struct Communicator;

// Makes the collective of one call on `comm`, or of one start of a persistent request; null if the
// arguments are not valid: the MPI library knows what to say. `carrying`: in whose session and over
// whose shared slots it goes: `comm`, or what a persistent request has of its own
// (own_session.hpp). Called on a thread of the program, under the engine's lock.
using MakeCollective =
    std::function<std::shared_ptr<Collective>(MPI_Comm comm, Communicator& carrying)>;

// What a call says: how it is made, and what replicas compare of it.
struct Startable {
  MakeCollective make;
  Describe describe = nullptr;
};

// A call of MPI_I...: starts what `start.make` makes, and gives the request. `name`: the lower-case
// MPI name, a string literal; `native`: MPI's own call.
int start_collective(MPI_Comm comm, const char* name, MPI_Request* request, const Startable& start,
                     const std::function<int()>& native);
// A call of MPI_..._init: `start.make` is called at each start.
int init_collective(MPI_Comm comm, const char* name, MPI_Request* request, const Startable& start,
                    const std::function<int()>& native);

// At the head of a call of MPI_I...: its communicator, if the collective may be a small one. Null:
// it is to be started as any other.
Communicator* small_at_head(MPI_Comm comm, const MPI_Request* request);
// Starts it there. False: nothing has happened.
bool maybe_start_small(MPI_Comm comm, const char* name, MPI_Request* request,
                       Communicator& communicator,
                       const std::shared_ptr<SmallCollective>& collective);

// Some are started, and the program was not yet told that they are over.
bool is_any_under_way();
// Drives the engine for a moment, and completes the requests of what is over.
void drive();

// From MPI's own progress: the same, where the thread is inside of a blocking call
// (inside_mpi.hpp).
void drive_from_inside();

// For MPI_Wait, MPI_Waitall and MPI_Test, before all else: completes the request of a collective
// that MPI knows nothing of, if that ends well. False: nothing has happened to the request.
bool maybe_wait_apart(MPI_Request& request);
bool maybe_test_apart(MPI_Request& request);
// For calls that give MPI requests without completing them, before they do.
void hand_all_to_mpi(int count, const MPI_Request* requests);

// The requests that one call is about to complete, some of which may be collectives, receives that
// belong to sends, or sends that do not end as MPI says.
class Watch {
 public:
  using Then = SendHalves::Then;

  Watch(int count, MPI_Request* requests, Then with_sends = Then::leave);

  bool is_watching() const {
    return !collectives_.empty() || send_halves_.has_any() || broken_sends_.has_any();
  }
  // MPI has completed the i-th request: how the collective ended, or the send; MPI_SUCCESS if it is
  // neither. The first error of the call goes to the handler of its communicator.
  int result_of(int i);
  // A handler has heard of an error of this call: of others none does.
  void note_told() { has_told_ = true; }
  // As those of BrokenSends.
  bool is_send(int i) const { return broken_sends_.is_send(i); }
  int next_unsent(int first) const { return broken_sends_.next_unsent(first); }

 private:
  // As it was before MPI could complete it: from then on another thread may be given a request of
  // the same name.
  struct Watched {
    MPI_Request* place = nullptr;  // of the program
    MPI_Request request = MPI_REQUEST_NULL;
    int ticket = 0;
    std::shared_ptr<Collective> collective;  // null: the request is none, or is not started
  };
  int finish(MPI_Comm comm, const char* name, int result, Lacks lacks);

  SendHalves send_halves_;
  BrokenSends broken_sends_;
  bool has_told_ = false;
  std::vector<Watched> collectives_;
};

bool is_collective(MPI_Request request);
// A request of one on that communicator is not over, or persistent.
bool has_collectives_of(MPI_Comm comm);
// For MPI_Start. REQUIRES: is_collective(request).
int start_again(MPI_Request request);
// For MPI_Request_free, before MPI frees it. Nothing if it is no collective.
void forget_collective(MPI_Request request);

// For the calls that free what a collective may still need. True: it is kept until that is over,
// and MPI must not free it yet.
bool is_kept(MPI_Datatype datatype);
bool is_kept(MPI_Op op);
// The communicator is going to be freed; its collectives are over. Waits until its persistent ones
// are. What is left on it can still be waited for and started (lingering.hpp).
void leave_communicator(MPI_Comm comm, runtime::Lock& lock);
// At MPI_Finalize, before all are over: what the program has not freed holds up nobody.
void leave_persistent();
// In MPI_Init: after a loss the library may not make what requests need.
void open_requests();
// At MPI_Finalize, when all are over.
void close_requests();

}  // namespace resprout::shim
