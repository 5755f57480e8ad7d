// Calls of the MPI library for which siblings cannot stand in, and which may go on for ever when a
// process is lost that has a part in them: Open MPI tries again and again to duplicate an
// inter-communicator, and waits for a lost target of one-sided access. A process that is
// inside of one then ends, as siblings stand in for it, too.
//
// Thread rule: from any thread of the program.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "mpi/handles/requests/request_table.hpp"

namespace resprout::shim {

// While it lives this thread is in the call of this lower-case MPI name, a string literal. Nothing
// where nobody stands in.
class LoneCall {
 public:
  LoneCall(MPI_Comm comm, const char* name);
  LoneCall(MPI_Win window, const char* name);
  ~LoneCall();
  LoneCall(const LoneCall&) = delete;
  LoneCall& operator=(const LoneCall&) = delete;

  // Ends the process. A loss has broken off the call.
  void end() const;
  // Ends the process if somebody is lost that the call needs.
  void end_if_lost() const;

 private:
  void begin(std::vector<int> world_ranks);

  const char* const name_;
  std::vector<int> world_ranks_;  // of both groups, if there are two; none: nobody stands in
};

// The same of a call whose request the program completes later: until then this thread is in it.
class LoneStart {
 public:
  LoneStart(MPI_Win window, const char* name);

  // MPI has started it, or said `code`.
  int go_on_as(int code, const MPI_Request* request);

 private:
  std::shared_ptr<LoneCall> call_;  // null: nobody stands in
};

// A call is about to have MPI complete it.
RequestClaim<LoneCall> claim_lone_start(MPI_Request request);
// That call is over, and the handle is `after` now.
void settle_lone_start(RequestClaim<LoneCall>& claim, MPI_Request after);
// The program has freed it. Nothing for others.
void forget_lone_start(MPI_Request request);

// Ends this process if somebody is lost that a call needs which it is in. In the library's
// progress.
void end_lone_calls_if_lost();

}  // namespace resprout::shim
