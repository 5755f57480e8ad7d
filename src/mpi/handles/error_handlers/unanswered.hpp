// Calls that a loss has ended and whose data nobody else has: a receive from the dead, a broadcast
// whose root died before anyone had the payload.
//
// A program that does not look at the code would compute on with what its buffer held before. So
// MPI's own rule holds for these calls: the communicator's error handler is called, and a fatal one
// ends the job (--on-unanswered). Where all goes on among the living, no handler is called for a
// loss (errors.hpp).
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/process/options.hpp"

namespace resprout::shim {

// The exit status of a job that ends for it.
constexpr int unanswered_exit_status = 75;

// What a loss has kept from a call.
enum class Lacks {
  data,     // that only the lost had: the call is unanswered
  nothing,  // that its program would miss, or only what the lost would have contributed
};

// Of a call that a loss has ended, as far as its name says it. `call`: the lower-case MPI name.
Lacks lacked_by(std::string_view call);

// What an error handler does.
enum class Handling { ends_job, returns, as_program_says };

struct Following {
  bool calls_handler;  // of the program
  bool ends_job;       // after that
  bool operator==(const Following&) const = default;
};
Following what_follows(OnUnanswered on_unanswered, Handling handling);

struct Unanswered {
  int rank;                  // in MPI_COMM_WORLD, whose call it is
  std::string call;          // "MPI_Recv"
  std::string communicator;  // its name; empty: it has none
  std::vector<int> lost;     // its members that are lost, in MPI_COMM_WORLD; empty: not known
};

// The line that says why the job ends, without a line end.
std::string line_of(const Unanswered& unanswered, OnUnanswered on_unanswered);

// "MPI_Scatter meets the loss of rank 0". `call`: the lower-case MPI name. REQUIRES:
// World::current() is not null.
std::string loss_met_by(MPI_Comm comm, const char* call);

// Does for an unanswered call what the options say; `call_handler` calls that of the program.
// Returns if its code is to be returned. REQUIRES: World::current() is not null, and no handler has
// seen the error.
void follow_unanswered(MPI_Comm comm, const char* call, const std::function<void()>& call_handler);

}  // namespace resprout::shim
