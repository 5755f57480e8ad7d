// Which error handler sees which error.
//
// In `continue` mode a loss is not fatal, although most programs leave MPI_ERRORS_ARE_FATAL in
// place, unless it has kept data from a call that nobody else has (unanswered.hpp). So each of the
// program's handlers is installed in a wrapping of our own that looks at the error first: a loss
// goes back to the caller as an error code and is counted, everything else goes to the program's
// handler. In `error` mode losses go there too, and a revocation, which the program itself has
// asked for, always does, and so do the losses of a process that is cut off (cut_off.hpp). The
// program sets and gets its own handlers and never sees the wrapping. Communicators inherit the
// wrapping as they inherit any handler, whatever made them.
//
// Thread rule: `install_error_handlers` once; everything else from any thread.
#pragma once

#include <mpi.h>

#include <string>

#include "mpi/handles/error_handlers/unanswered.hpp"

namespace resprout::shim {

// In MPI_Init, after MPI itself is up: wraps the handlers of MPI_COMM_WORLD and MPI_COMM_SELF.
void install_error_handlers();

// What the program is to hear instead of `code`: a process that is cut off has its communicators
// revoked to end what waits, but nobody has asked for that.
int as_told(int code);

// The program's handler, if there is one, is to see the error.
bool is_for_program(int code);
// The MPI library has met a loss that no wrapper knows more about. Does not return where siblings
// stand in.
void note_loss_in_library();
// What MPI's own fatal handlers do, but through our MPI_Abort, which does end the job. `on`: what
// the handler is of, for people; `before`: what else they are to hear, before what the code says.
void end_job_for(int code, const std::string& on, const std::string& before = "");

// The end of a call of ours: passes `code` to the program's handler if it is an error that this
// handler is to see, counts losses, and returns it. REQUIRES: no handler has seen it yet. `call`:
// the lower-case MPI name, a string literal. `lacks`: if it is a loss.
int finish(MPI_Comm comm, const char* call, int code, Lacks lacks);
inline int finish(MPI_Comm comm, const char* call, int code) {
  return code == MPI_SUCCESS ? code : finish(comm, call, code, lacked_by(call));
}

// Whether a handler hears of such an error of a call of ours, if it is one.
inline bool is_told(int code, Lacks lacks) {
  return code != MPI_SUCCESS && (lacks == Lacks::data || is_for_program(code));
}

}  // namespace resprout::shim
