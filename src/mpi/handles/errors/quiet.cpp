#include "mpi/handles/errors/quiet.hpp"

#include <utility>

#include "mpi/process/fast_thread_local.hpp"

namespace resprout::shim {
namespace {

RESPROUT_FAST_THREAD_LOCAL int depth = 0;
RESPROUT_FAST_THREAD_LOCAL int making_depth = 0;  // of those that make communicators
RESPROUT_FAST_THREAD_LOCAL bool is_quiet = false;
RESPROUT_FAST_THREAD_LOCAL MPI_Comm in_error = MPI_COMM_NULL;

}  // namespace

void note_communicator_in_error(MPI_Comm comm) { in_error = comm; }

QuietLosses::QuietLosses() : outer_(in_error) {
  ++depth;
  in_error = MPI_COMM_NULL;
}

QuietLosses::~QuietLosses() {
  --depth;
  in_error = outer_;
}

MPI_Comm QuietLosses::communicator_in_error() const { return in_error; }

QuietErrors::QuietErrors() { is_quiet = true; }
QuietErrors::~QuietErrors() { is_quiet = false; }

QuietMaking::QuietMaking() { ++making_depth; }
QuietMaking::~QuietMaking() { --making_depth; }

bool are_errors_quiet() { return is_quiet; }
bool are_losses_quiet() { return depth > 0; }
bool is_making_quiet() { return making_depth > 0; }

LoudLosses::LoudLosses()
    : outer_depth_(std::exchange(depth, 0)), outer_making_depth_(std::exchange(making_depth, 0)) {}

LoudLosses::~LoudLosses() {
  depth = outer_depth_;
  making_depth = outer_making_depth_;
}

}  // namespace resprout::shim
