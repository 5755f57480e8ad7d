#include "mpi/handles/errors/wrappings.hpp"

#include <vector>

#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct Wrapping {
  MPI_Errhandler of_program;
  MPI_Errhandler ours;
};

// Never destroyed, never shrinks: a handler that was once set stays referenced, so that its handle
// always means the same.
struct Wrappings {
  runtime::Mutex mutex;
  std::vector<Wrapping> all RESPROUT_GUARDED_BY(mutex);
  // Set in MPI_Init.
  HandleError* action = nullptr;    // of all wrappings
  MPI_Comm anchor = MPI_COMM_NULL;  // a private communicator, to make references to handlers with
};

Wrappings& wrappings() {
  static auto* instance = new Wrappings;
  return *instance;
}

// A reference that MPI_Errhandler_free may undo.
MPI_Errhandler referenced(MPI_Errhandler handler) RESPROUT_REQUIRES(wrappings().mutex) {
  MPI_Errhandler reference = handler;
  PMPI_Comm_set_errhandler(wrappings().anchor, handler);
  PMPI_Comm_get_errhandler(wrappings().anchor, &reference);
  return reference;
}

}  // namespace

// The program's handler that `handler` wraps; `handler` itself if it is not a wrapping.
MPI_Errhandler unwrapped(MPI_Errhandler handler) {
  const runtime::MutexLock lock(wrappings().mutex);
  for (const Wrapping& wrapping : wrappings().all)
    if (wrapping.ours == handler) return wrapping.of_program;
  return handler;
}

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  MPI_Errhandler copy = handler;
  PMPI_Errhandler_free(&copy);  // `comm` still holds it
  return handler;
}

// A library that knows of no losses has nothing to say that its own handlers should not hear.
MPI_Errhandler wrapped(MPI_Errhandler of_program) {
  if (!ulfm::returns_what_handlers_heard) return of_program;
  const runtime::MutexLock lock(wrappings().mutex);
  for (const Wrapping& wrapping : wrappings().all)
    if (wrapping.of_program == of_program || wrapping.ours == of_program) return wrapping.ours;
  Wrapping wrapping{referenced(of_program), MPI_ERRHANDLER_NULL};
  PMPI_Comm_create_errhandler(wrappings().action, &wrapping.ours);
  wrappings().all.push_back(wrapping);
  return wrapping.ours;
}

bool are_wrappings_installed() { return wrappings().anchor != MPI_COMM_NULL; }

void install_wrappings(HandleError* action) {
  wrappings().action = action;
  PMPI_Comm_dup(MPI_COMM_SELF, &wrappings().anchor);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    PMPI_Comm_set_errhandler(comm, wrapped(handler_of(comm)));
}

MPI_Errhandler handler_of_program(MPI_Comm comm) { return unwrapped(handler_of(comm)); }

MPI_Errhandler reference_to(MPI_Errhandler handler) {
  const runtime::MutexLock lock(wrappings().mutex);
  return referenced(handler);
}

bool is_fatal(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

MPI_Comm communicator_of_own() {
  return are_wrappings_installed() ? wrappings().anchor : MPI_COMM_SELF;
}

void hand_on_errors(MPI_Comm carrier) {
  PMPI_Comm_set_errhandler(carrier, wrapped(MPI_ERRORS_RETURN));
}

void copy_error_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(from, &handler);
  PMPI_Comm_set_errhandler(to, handler);
  PMPI_Errhandler_free(&handler);
}

}  // namespace resprout::shim
