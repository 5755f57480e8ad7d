#include "mpi/handles/errors/errors.hpp"

#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/lingering.hpp"
#include "mpi/handles/communicators/remade.hpp"
#include "mpi/handles/communicators/spares.hpp"
#include "mpi/handles/errors/cut_off.hpp"
#include "mpi/policies/replicas/masking.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

struct Wrapping {
  MPI_Errhandler of_program;
  MPI_Errhandler ours;
};

// Never destroyed, never shrinks: a handler that was once set stays referenced, so that its handle
// always means the same.
struct Wrappings {
  std::mutex mutex;
  std::vector<Wrapping> all;
  MPI_Comm anchor = MPI_COMM_NULL;  // a private communicator, to make references to handlers with
};

Wrappings& wrappings() {
  static auto* instance = new Wrappings;
  return *instance;
}

constexpr const char* unmasked = "meets a loss for which others cannot stand in";

RESPROUT_FAST_THREAD_LOCAL int depth = 0;
RESPROUT_FAST_THREAD_LOCAL int making_depth = 0;  // of those that make communicators
RESPROUT_FAST_THREAD_LOCAL bool is_quiet = false;
RESPROUT_FAST_THREAD_LOCAL MPI_Comm in_error = MPI_COMM_NULL;

// A reference that MPI_Errhandler_free may undo. REQUIRES: the mutex is held.
MPI_Errhandler referenced(MPI_Errhandler handler) {
  MPI_Errhandler reference = handler;
  PMPI_Comm_set_errhandler(wrappings().anchor, handler);
  PMPI_Comm_get_errhandler(wrappings().anchor, &reference);
  return reference;
}

// The program's handler that `handler` wraps; `handler` itself if it is not a wrapping.
MPI_Errhandler unwrapped(MPI_Errhandler handler) {
  const std::scoped_lock lock(wrappings().mutex);
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

// For people: what the error befell, as far as its code does not say it. `call`: the lower-case MPI
// name; null: it is not known.
std::string befallen(MPI_Comm comm, int code, const char* call) {
  if (call == nullptr) return "";
  return (is_loss(code) && !is_revoked(code) ? loss_met_by(comm, call) : mpi_name_of(call)) + ": ";
}

// Does with the error what the program asked for. True: that is nothing. `call`: as above.
bool pass_on(MPI_Comm comm, int code, const char* call = nullptr) {
  const MPI_Errhandler ours = handler_of(comm);
  const MPI_Errhandler of_program = unwrapped(ours);
  if (of_program == MPI_ERRORS_RETURN) return true;
  if (is_fatal(of_program) && is_cut_off()) end_cut_off("its error handler is fatal");
  if (is_fatal(of_program)) {
    const std::string name = name_of_communicator(comm);
    end_job_for(code, "communicator " + (name.empty() ? "without a name" : name),
                befallen(comm, code, call));
    return false;
  }
  const int outer_depth = std::exchange(depth, 0);  // what the handler calls is not ours
  const int outer_making_depth = std::exchange(making_depth, 0);
  PMPI_Comm_set_errhandler(comm, of_program);
  PMPI_Comm_call_errhandler(comm, code);
  depth = outer_depth;
  making_depth = outer_making_depth;
  // Unless the handler has set another one.
  if (handler_of(comm) == of_program) PMPI_Comm_set_errhandler(comm, ours);
  return false;
}

// The same, asking MPI only once for what mostly is nothing: many processes may be waiting for each
// other to be through with a revocation, and nobody has that code of MPI's in a cache.
void pass_on_as_known(MPI_Comm comm, int code, const char* call) {
  if (World::current() == nullptr || !is_loss(code)) {
    pass_on(comm, code, call);
    return;
  }
  Communicator& communicator = *communicator_of(comm);
  if (!communicator.returns_errors && pass_on(comm, code, call)) communicator.returns_errors = true;
}

// Every wrapping does this.
void handle(MPI_Comm* found_on, int* code, ...) {
  if (is_quiet) return;
  const MPI_Comm comm = carried_by(*found_on);
  in_error = comm;
  if (making_depth > 0 && has_met_loss(*code)) return;
  if (is_loss(*code)) {
    if (depth > 0) return;
    note_loss_in_library();
  }
  if (is_for_program(*code)) pass_on(comm, *code);
}

MPI_Errhandler wrapped(MPI_Errhandler of_program) {
  const std::scoped_lock lock(wrappings().mutex);
  for (const Wrapping& wrapping : wrappings().all)
    if (wrapping.of_program == of_program || wrapping.ours == of_program) return wrapping.ours;
  Wrapping wrapping{referenced(of_program), MPI_ERRHANDLER_NULL};
  PMPI_Comm_create_errhandler(handle, &wrapping.ours);
  wrappings().all.push_back(wrapping);
  return wrapping.ours;
}

bool is_installed() { return wrappings().anchor != MPI_COMM_NULL; }

}  // namespace

void note_loss_in_library() {
  end_if_masking("a call of the MPI library", unmasked);
  if (World* world = World::current()) world->report().count_error("other");
}

MPI_Errhandler handler_of_program(MPI_Comm comm) { return unwrapped(handler_of(comm)); }

void call_handler_of_program(MPI_Comm comm, int code) { pass_on(comm, code); }

std::string name_of_communicator(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  return name;
}

MPI_Errhandler reference_to(MPI_Errhandler handler) {
  const std::scoped_lock lock(wrappings().mutex);
  return referenced(handler);
}

bool is_fatal(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

void end_job_for(int code, const std::string& on, const std::string& before) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  std::fprintf(stderr, "resprout: rank %d: %s%s, on %s, whose error handler is fatal\n", rank,
               before.c_str(), text, on.c_str());
  MPI_Abort(MPI_COMM_WORLD, code);
}

bool is_for_program(int code) {
  if (!is_loss(code) || is_revoked(code) || is_cut_off()) return true;  // who revokes expects it
  World* world = World::current();
  return world != nullptr && world->options().on_loss == OnLoss::error;
}

// A class is its own code: mostly there is nothing to look up.
int class_of(int code) {
  if (code == MPI_SUCCESS || code == ulfm::revoked_class() || code == ulfm::proc_failed_class())
    return code;
  int found = MPI_SUCCESS;
  PMPI_Error_class(code, &found);
  return found;
}

void install_error_handlers() {
  ulfm::prepare();
  PMPI_Comm_dup(MPI_COMM_SELF, &wrappings().anchor);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    PMPI_Comm_set_errhandler(comm, wrapped(handler_of(comm)));
}

MPI_Comm communicator_of_own() { return is_installed() ? wrappings().anchor : MPI_COMM_SELF; }

void hand_on_errors(MPI_Comm carrier) {
  PMPI_Comm_set_errhandler(carrier, wrapped(MPI_ERRORS_RETURN));
}

void copy_error_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(from, &handler);
  PMPI_Comm_set_errhandler(to, handler);
  PMPI_Errhandler_free(&handler);
}

int proc_failed() { return ulfm::proc_failed_class(); }

bool is_loss(int code) {
  const int found = class_of(code);
  return found == ulfm::proc_failed_class() || found == ulfm::proc_failed_pending_class() ||
         found == ulfm::revoked_class();
}

bool is_pending(int code) { return class_of(code) == ulfm::proc_failed_pending_class(); }
bool is_revoked(int code) { return class_of(code) == ulfm::revoked_class(); }

int as_told(int code) { return is_cut_off() && is_loss(code) ? proc_failed() : code; }

int finish(MPI_Comm comm, const char* call, int code, Lacks lacks) {
  // Outside of MPI_Init .. MPI_Finalize there is nobody to tell.
  if (code == MPI_SUCCESS || World::current() == nullptr) return code;
  const Telling telling;
  code = as_told(code);
  if (is_loss(code)) {
    if (masking.load() != nullptr) end_if_masking(mpi_name_of(call), unmasked);
    if (World* world = World::current()) world->report().count_error(call);
  }
  if (is_for_program(code))
    pass_on_as_known(comm, code, call);
  else if (lacks == Lacks::data)
    follow_unanswered(comm, call, code);
  return code;
}

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

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  if (!is_installed() || comm == MPI_COMM_NULL || errhandler == MPI_ERRHANDLER_NULL)
    return PMPI_Comm_set_errhandler(comm, errhandler);
  const int code = PMPI_Comm_set_errhandler(comm, wrapped(errhandler));
  if (code == MPI_SUCCESS && World::current() != nullptr)
    communicator_of(comm)->returns_errors = errhandler == MPI_ERRORS_RETURN;
  return code;
}

extern "C" int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  const int code = PMPI_Comm_get_errhandler(comm, errhandler);
  if (code != MPI_SUCCESS || !is_installed()) return code;
  const MPI_Errhandler of_program = unwrapped(*errhandler);
  if (of_program == *errhandler) return code;
  PMPI_Errhandler_free(errhandler);
  *errhandler = reference_to(of_program);
  return code;
}

// The program calls its own handler, whatever the error.
extern "C" int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  if (World::current() == nullptr || !is_installed() || comm == MPI_COMM_NULL)
    return PMPI_Comm_call_errhandler(comm, errorcode);
  pass_on(comm, errorcode);
  return MPI_SUCCESS;
}

// The names of MPI-1, which newer libraries and headers no longer have.
#undef MPI_Errhandler_set
#undef MPI_Errhandler_get
#undef PMPI_Errhandler_set
#undef PMPI_Errhandler_get
extern "C" {
[[gnu::weak]] int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
[[gnu::weak]] int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);
}

extern "C" int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  if (World::current() == nullptr && PMPI_Errhandler_set != nullptr)
    return PMPI_Errhandler_set(comm, errhandler);
  return MPI_Comm_set_errhandler(comm, errhandler);
}

extern "C" int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  if (World::current() == nullptr && PMPI_Errhandler_get != nullptr)
    return PMPI_Errhandler_get(comm, errhandler);
  return MPI_Comm_get_errhandler(comm, errhandler);
}
