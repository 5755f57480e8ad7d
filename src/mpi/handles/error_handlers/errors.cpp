#include "mpi/handles/error_handlers/errors.hpp"

#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/lingering.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/cut_off.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/inside_call.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/own_calls.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

constexpr const char* beyond_substitution = "meets a loss for which others cannot stand in";

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
  // MPICH frees one that is set again, if the program has freed its own handle.
  const bool is_wrapped = ours != of_program;
  if (is_wrapped) PMPI_Comm_set_errhandler(comm, of_program);
  {
    // What the handler calls is the program's.
    const LoudLosses loud;
    const InsideCall::Left left;
    PMPI_Comm_call_errhandler(comm, code);
  }
  // Unless the handler has set another one.
  if (is_wrapped && handler_of(comm) == of_program) PMPI_Comm_set_errhandler(comm, ours);
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
  if (are_errors_quiet()) return;
  const MPI_Comm comm = carried_by(*found_on);
  note_communicator_in_error(comm);
  if (is_making_quiet() && has_met_loss(*code)) return;
  if (is_loss(*code)) {
    if (are_losses_quiet()) return;
    note_loss_in_library();
  }
  if (is_for_program(*code)) pass_on(comm, *code);
}

}  // namespace

void note_loss_in_library() {
  call_policy().on_failure("a call of the MPI library", beyond_substitution);
  if (World* world = World::current()) world->report().count_error("other");
}

void end_job_for(int code, const std::string& on, const std::string& before) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  std::fprintf(stderr, "resprout: rank %d: %s%s, on %s, whose error handler is fatal\n", rank,
               before.c_str(), text, on.c_str());
  if (is_cut_off()) end_cut_off("its error handler is fatal");
  if (World* world = World::current()) world->end_job(code, "");
  PMPI_Abort(MPI_COMM_WORLD, code);
}

bool is_for_program(int code) {
  if (!is_loss(code) || is_revoked(code) || is_cut_off()) return true;  // who revokes expects it
  World* world = World::current();
  return world != nullptr && world->options().on_loss == OnLoss::error;
}

void install_error_handlers() {
  ulfm::prepare();
  install_wrappings(handle);
}

int as_told(int code) { return is_cut_off() && is_loss(code) ? proc_failed() : code; }

namespace {

// Whoever has met a loss in a function of a library's leaves it, and does not send what others wait
// for there: they shall hear of it.
void end_of_library(MPI_Comm comm, int code) {
  World& world = *World::current();
  if (comm == MPI_COMM_NULL || is_revoked(code) || is_cut_off()) return;
  const Communicator& communicator = *communicator_of(comm);
  if (!communicator.is_of_library || communicator.session == nullptr) return;
  if (world.options().is_replicated()) return;
  runtime::Lock lock = world.engine().lock();
  communicator.session->revoke();
  lock.unlock();
  if (!do_members_look(communicator)) pass_on_revocations();
}

}  // namespace

int finish(MPI_Comm comm, const char* call, int code, Lacks lacks) {
  // Outside of MPI_Init .. MPI_Finalize there is nobody to tell.
  if (code == MPI_SUCCESS || World::current() == nullptr) return code;
  const Telling telling;
  code = as_told(code);
  if (is_loss(code)) {
    if (call_policy().stands_in()) call_policy().on_failure(mpi_name_of(call), beyond_substitution);
    // A call of Resprout's own inside one of the program's, which says itself how it has ended.
    const bool is_inside = OwnCalls::are_made() && are_losses_quiet();
    if (!is_inside) World::current()->report().count_error(call);
    end_of_library(comm, code);
    if (is_inside) return code;
  }
  if (is_for_program(code))
    pass_on_as_known(comm, code, call);
  else if (lacks == Lacks::data)
    follow_unanswered(comm, call, [&] { pass_on(comm, code); });
  return code;
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  if (!are_wrappings_installed() || comm == MPI_COMM_NULL || errhandler == MPI_ERRHANDLER_NULL)
    return PMPI_Comm_set_errhandler(comm, errhandler);
  const int code = PMPI_Comm_set_errhandler(comm, wrapped(errhandler));
  if (code == MPI_SUCCESS && World::current() != nullptr)
    communicator_of(comm)->returns_errors = errhandler == MPI_ERRORS_RETURN;
  return code;
}

extern "C" int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  const int code = PMPI_Comm_get_errhandler(comm, errhandler);
  if (code != MPI_SUCCESS || !are_wrappings_installed()) return code;
  const MPI_Errhandler of_program = unwrapped(*errhandler);
  if (of_program == *errhandler) return code;
  PMPI_Errhandler_free(errhandler);
  *errhandler = reference_to(of_program);
  return code;
}

// The program calls its own handler, whatever the error.
extern "C" int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  if (World::current() == nullptr || !are_wrappings_installed() || comm == MPI_COMM_NULL)
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
