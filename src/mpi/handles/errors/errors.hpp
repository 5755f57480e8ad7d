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

#include "mpi/handles/errors/unanswered.hpp"

namespace resprout::shim {

// In MPI_Init, after MPI itself is up: wraps the handlers of MPI_COMM_WORLD and MPI_COMM_SELF.
void install_error_handlers();

// Of this process alone, and nobody else's. MPI_COMM_SELF before install_error_handlers().
MPI_Comm communicator_of_own();

// For a communicator of ours whose messages are the program's: its errors are of the communicator
// that it carries (remade.hpp). REQUIRES: install_error_handlers().
void hand_on_errors(MPI_Comm carrier);
// `to` gets the error handler of `from`.
void copy_error_handler(MPI_Comm from, MPI_Comm to);

// The code of MPIX_ERR_PROC_FAILED, also where the MPI has none.
int proc_failed();
// The class of an error code.
int class_of(int code);
// It is an error of the kind that a lost process causes (PROC_FAILED, PENDING, REVOKED).
bool is_loss(int code);
// It is PROC_FAILED_PENDING: a wildcard receive that could go on once the loss is acknowledged.
bool is_pending(int code);
bool is_revoked(int code);

// What the program is to hear instead of `code`: a process that is cut off has its communicators
// revoked to end what waits, but nobody has asked for that.
int as_told(int code);

// The program's handler, if there is one, is to see the error.
bool is_for_program(int code);
// The MPI library has met a loss that no wrapper knows more about. Does not return where siblings
// stand in.
void note_loss_in_library();
// The program's handler of `comm`, for comparisons. REQUIRES: install_error_handlers().
MPI_Errhandler handler_of_program(MPI_Comm comm);
// Calls it, whatever it is.
void call_handler_of_program(MPI_Comm comm, int code);
// Empty: it has none.
std::string name_of_communicator(MPI_Comm comm);
// That MPI_Errhandler_free may undo. REQUIRES: install_error_handlers().
MPI_Errhandler reference_to(MPI_Errhandler handler);
// MPI ends the job when there is an error.
bool is_fatal(MPI_Errhandler handler);
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

// A loss on `comm` was found by us, not by MPI: communicator_in_error says so.
void note_communicator_in_error(MPI_Comm comm);

// While one lives, losses that MPI finds in a call of this thread are returned without a word: the
// wrapper that called MPI may know better, and calls `finish` if not.
class QuietLosses {
 public:
  QuietLosses();
  ~QuietLosses();
  QuietLosses(const QuietLosses&) = delete;
  QuietLosses& operator=(const QuietLosses&) = delete;

  // The communicator of the last error that was raised meanwhile; MPI_COMM_NULL if there was none.
  MPI_Comm communicator_in_error() const;

 private:
  MPI_Comm outer_;
};

// While one lives, no error that MPI finds in a call of this thread is told to anybody. Only for
// calls in which nothing of the program is called. REQUIRES: install_error_handlers().
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
};

// As QuietLosses, of a call that makes a communicator, whatever MPI calls a loss that falls into
// it.
class QuietMaking : public QuietLosses {
 public:
  QuietMaking();
  ~QuietMaking();
  QuietMaking(const QuietMaking&) = delete;
  QuietMaking& operator=(const QuietMaking&) = delete;
};

}  // namespace resprout::shim
