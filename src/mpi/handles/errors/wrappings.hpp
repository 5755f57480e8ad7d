// The handlers that stand in the places of the program's: each wraps one of those, and all do the
// same. The program sets and gets its own, and never sees the wrapping. Communicators inherit a
// wrapping as they inherit any handler, whatever made them.
//
// Thread rule: `install_wrappings` once; everything else from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

using HandleError = void(MPI_Comm* found_on, int* code, ...);

// In MPI_Init, after MPI itself is up: wraps the handlers of MPI_COMM_WORLD and MPI_COMM_SELF.
// `action`: what every wrapping does.
void install_wrappings(HandleError* action);
bool are_wrappings_installed();

// Of this process alone, and nobody else's. MPI_COMM_SELF before install_wrappings().
MPI_Comm communicator_of_own();

// For a communicator of ours whose messages are the program's: its errors are of the communicator
// that it carries (derived.hpp). REQUIRES: install_wrappings().
void hand_on_errors(MPI_Comm carrier);
// `to` gets the error handler of `from`.
void copy_error_handler(MPI_Comm from, MPI_Comm to);

// What wraps `of_program`; itself, if that is a wrapping. REQUIRES: install_wrappings().
MPI_Errhandler wrapped(MPI_Errhandler of_program);
// The program's handler that `handler` wraps; `handler` itself if it is not a wrapping.
MPI_Errhandler unwrapped(MPI_Errhandler handler);
// As MPI has it.
MPI_Errhandler handler_of(MPI_Comm comm);
// The program's handler of `comm`, for comparisons. REQUIRES: install_wrappings().
MPI_Errhandler handler_of_program(MPI_Comm comm);
// That MPI_Errhandler_free may undo. REQUIRES: install_wrappings().
MPI_Errhandler reference_to(MPI_Errhandler handler);
// MPI ends the job when there is an error.
bool is_fatal(MPI_Errhandler handler);

}  // namespace resprout::shim
