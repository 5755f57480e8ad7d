#include "mpi/handles/errors/cut_off.hpp"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "mpi/handles/errors/codes.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/local_failure.hpp"
#include "openmpi/local_revocation.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

std::atomic<bool> has_finalized{false};

constexpr const char* error_text =
    "MPIX_ERR_PROC_FAILED: this process was cut off: the others go on without it, or may, and it "
    "cannot come back into this job";

// MPICH has shorter ones, which do not name the error.
const char* text_of_loss(int code) {
  if (is_revoked(code)) return "MPIX_ERR_REVOKED: the communicator was revoked";
  if (is_pending(code))
    return "MPIX_ERR_PROC_FAILED_PENDING: a process that might have sent this was lost";
  return "MPIX_ERR_PROC_FAILED: a process was lost";
}

// What waits inside of MPI, here or at the others for this process, has to be ended there.
bool can_mpi_let_go() { return !ulfm::is_active() || (can_revoke_locally() && can_fail_locally()); }

}  // namespace

bool is_cut_off() {
  World* world = World::current();
  return world != nullptr && world->engine().is_cut_off();
}

void revoke_in_mpi(MPI_Comm comm) { is_cut_off() ? revoke_locally(comm) : ulfm::revoke(comm); }

bool live_on_cut_off(const std::string& why) {
  World* world = World::current();
  if (world == nullptr || !can_mpi_let_go() || !world->engine().cut_off()) return false;
  world->report().note_cut_off(why);
  return true;
}

void end_cut_off(const char* why) {
  std::fprintf(stderr, "resprout: rank %d was cut off, must not go on and ends here: %s\n",
               World::current()->rank(), why);
  std::fflush(nullptr);
  World::current()->report().note_exit(runtime::cut_off_exit_status);
  _exit(runtime::cut_off_exit_status);
}

// Who exits from here on ends as one that has not finalized (leaving.hpp): the MPI library of the
// others is told then, and does not wait for it.
void finalize_cut_off() {
  if (!has_finalized.exchange(true)) World::current()->report().note_finalized();
}

void finalize_without_mpi() { has_finalized = true; }

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Error_string(int errorcode, char* string, int* resultlen) {
  const bool has_own_text = is_cut_off() || !ulfm::returns_what_handlers_heard;
  if (!has_own_text || !is_loss(errorcode)) return PMPI_Error_string(errorcode, string, resultlen);
  static_assert(std::char_traits<char>::length(error_text) < MPI_MAX_ERROR_STRING);
  std::strcpy(string, is_cut_off() ? error_text : text_of_loss(errorcode));
  *resultlen = static_cast<int>(std::strlen(string));
  return MPI_SUCCESS;
}

extern "C" int MPI_Finalized(int* flag) {
  const int code = PMPI_Finalized(flag);
  if (has_finalized) *flag = 1;
  return code;
}
