// Calls of the MPI library for which siblings cannot stand in, and which may go on for ever when a
// process is lost that has a part in them: Open MPI tries again and again to duplicate an
// inter-communicator, and waits for a lost target of one-sided access. Whoever is inside of one
// then ends, as siblings stand in for it, too.
//
// Thread rule: from any thread of the program.
#pragma once

#include <mpi.h>

#include <vector>

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

  // Ends the process if somebody is lost that the call needs.
  void end_if_lost() const;

 private:
  void begin(std::vector<int> world_ranks);

  const char* const name_;
  std::vector<int> world_ranks_;  // of both groups, if there are two; none: nobody stands in
};

// The same for all of this process. In the library's progress.
void end_lone_calls_if_lost();

}  // namespace resprout::shim
