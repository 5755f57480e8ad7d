// The calls that end a communicator: its session says goodbye, most often after the call
// (departures.hpp). One that has requests left ends after them (lingering.hpp). One that was
// revoked or has lost members is left to MPI_Finalize: Open MPI would give its number to the next
// one it makes, in MPI_Finalize if not before, and with it the messages that are still on their
// way. Those it may take for the new one's, or end the job because their sender is not in that.
#include <optional>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/started/send_halves.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/attributes.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/lingering.hpp"
#include "mpi/handles/openmpi/references.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/operations/communicators/closing.hpp"
#include "mpi/operations/communicators/derived_making.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

using namespace resprout::shim;

namespace {

// All that the program hears of it is as if it were freed.
void keep(MPI_Comm comm) {
  forget_requests_of(comm);
  undescribe_communicator(comm);
}

// Of others MPI says that it is a mistake, and they stay.
bool may_be_freed(MPI_Comm comm) {
  return comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
}

// What of a communicator stays when it begins anew. Other planes, in which it may have gone on,
// still know it by its name.
struct Kept {
  explicit Kept(const Communicator& communicator)
      : name(communicator.name),
        session_name(communicator.session != nullptr
                         ? std::optional(communicator.session->child(for_new_beginning))
                         : communicator.session_name),
        persistent_made(communicator.made.persistent) {}

  void begin_anew(MPI_Comm comm) const {
    undescribe_communicator(comm);
    Communicator& communicator = *communicator_of(comm);
    communicator.name = name;
    communicator.session_name = session_name;
    communicator.made.persistent = persistent_made;
  }

  // Tells its next session apart from those of what is made of it, which are counted.
  static constexpr std::uint64_t for_new_beginning = std::uint64_t{1} << 61;

  const std::uint64_t name;
  const std::optional<std::uint64_t> session_name;
  const std::uint64_t persistent_made;
};

bool has_requests_left(MPI_Comm comm) {
  Receives* by = receives();
  return has_requests_of(comm) || has_collectives_of(comm) ||
         (!is_derived(comm) && has_requests_in_mpi(comm)) || (by != nullptr && by->is_needed(comm));
}

// None of its requests is left.
void end_after_requests(MPI_Comm comm, Parting parting) {
  Communicator& communicator = *communicator_of(comm);
  if (communicator.derived) return unmake(comm, parting == Parting::clean);
  forget_requests_of(comm);
  const bool is_departing = communicator.is_departing;
  undescribe_communicator(comm);
  if (is_departing) {
    const resprout::runtime::Lock lock = World::current()->engine().lock();
    communicator.is_lingering = false;
  }
  if (parting != Parting::unclean) PMPI_Comm_free(&comm);
}

void end_later(MPI_Comm comm, PartingWaits waits) {
  communicator_of(comm)->is_lingering = true;
  const Parting parting = close_communicator(comm, waits);
  linger([comm] { return has_requests_left(comm); },
         [comm, parting] { end_after_requests(comm, parting); });
}

// `name`: the lower-case MPI name; `native()` is MPI's own call. First of all the program's delete
// functions are called, which may use the communicator as ever; where one fails it stays.
template <typename Native>
int end(MPI_Comm* comm, const char* name, PartingWaits waits, Native native) {
  if (World::current() == nullptr || comm == nullptr || !may_be_freed(*comm)) return native();
  count_call(*World::current(), name);
  const MPI_Comm handle = *comm;
  leave_send_halves(handle);
  const bool lingers = has_requests_left(handle);
  if (const int code = delete_attributes(handle); code != MPI_SUCCESS) return code;
  if (lingers) {
    end_later(handle, waits);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  const Kept kept(*communicator_of(handle));
  const Parting parting = close_communicator(handle, waits);
  int code = MPI_SUCCESS;
  if (is_derived(handle)) {
    unmake(handle, parting == Parting::clean);
  } else if (parting == Parting::unclean) {
    keep(handle);
  } else {
    forget_requests_of(handle);
    code = native();
  }
  if (code == MPI_SUCCESS)
    *comm = MPI_COMM_NULL;
  else
    kept.begin_anew(handle);
  return code;
}

}  // namespace

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  return end(comm, "comm_free", PartingWaits::if_needed, [&] { return PMPI_Comm_free(comm); });
}

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  return end(comm, "comm_disconnect", PartingWaits::always,
             [&] { return PMPI_Comm_disconnect(comm); });
}
