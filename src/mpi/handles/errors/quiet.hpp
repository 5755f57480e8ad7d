// What a thread is in, so that error handlers say nothing of some errors, or nothing at all.
//
// Thread rule: each thread has its own.
#pragma once

#include <mpi.h>

namespace resprout::shim {

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

// What is in force in this thread.
bool are_errors_quiet();
bool are_losses_quiet();
bool is_making_quiet();

// While one lives, nothing is quiet but errors: the program's handler runs, and what it calls is
// its own.
class LoudLosses {
 public:
  LoudLosses();
  ~LoudLosses();
  LoudLosses(const LoudLosses&) = delete;
  LoudLosses& operator=(const LoudLosses&) = delete;

 private:
  int outer_depth_;
  int outer_making_depth_;
};

}  // namespace resprout::shim
