// The calls that end a communicator: its session says goodbye, most often after the call
// (departures.hpp). One that receives of
// replicas still need is left to MPI_Finalize, and so is one that was revoked or has lost members:
// Open MPI would give its number to the next one it makes, in MPI_Finalize if not before, and with
// it the messages that are still on their way. Those it may take for the new one's, or end the job
// because their sender is not in that.
#include "shim/communicator.hpp"
#include "shim/pending.hpp"
#include "shim/remade/attributes.hpp"
#include "shim/remade/remade.hpp"
#include "shim/replication/receives.hpp"
#include "shim/send_halves.hpp"

using namespace resprout::shim;

namespace {

// All that the program hears of it is as if it were freed.
int keep(MPI_Comm comm) {
  const int code = delete_attributes(comm);
  if (code != MPI_SUCCESS) return code;
  forget_requests_of(comm);
  undescribe_communicator(comm);
  return code;
}

// Of others MPI says that it is a mistake, and they stay.
bool may_be_freed(MPI_Comm comm) {
  return comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
}

// Other planes, in which it may have stayed as it was, still know it by its name.
void begin_anew(MPI_Comm comm, std::uint64_t name, std::uint64_t persistent_made) {
  undescribe_communicator(comm);
  Communicator& communicator = *communicator_of(comm);
  communicator.name = name;
  communicator.persistent_made = persistent_made;
}

// `native()` is MPI's own call. Where a callback of the program's fails the communicator stays, and
// begins anew.
template <typename Native>
int end(MPI_Comm* comm, PartingWaits waits, Native native) {
  if (comm == nullptr || !may_be_freed(*comm)) return native();
  leave_send_halves(*comm);
  if (is_remade(*comm))
    if (const int code = delete_attributes(*comm); code != MPI_SUCCESS) return code;
  const std::uint64_t name = communicator_of(*comm)->name;
  const std::uint64_t persistent_made = communicator_of(*comm)->persistent_made;
  const MPI_Comm handle = *comm;
  const Parting parting = close_communicator(handle, waits);
  if (Receives* by = receives(); by != nullptr && by->is_needed(handle)) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  int code = MPI_SUCCESS;
  if (is_remade(handle)) {
    unmake(handle, parting == Parting::clean);
  } else if (parting == Parting::unclean) {
    code = keep(handle);
  } else {
    forget_requests_of(handle);
    code = native();
  }
  if (code == MPI_SUCCESS)
    *comm = MPI_COMM_NULL;
  else
    begin_anew(handle, name, persistent_made);
  return code;
}

}  // namespace

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  return end(comm, PartingWaits::if_needed, [&] { return PMPI_Comm_free(comm); });
}

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  return end(comm, PartingWaits::always, [&] { return PMPI_Comm_disconnect(comm); });
}
