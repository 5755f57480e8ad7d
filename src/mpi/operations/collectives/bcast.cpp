// MPI_Bcast over reliable_broadcast.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/carriers/slices.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  const Compared compared(comm, "bcast", call_data_of::bcast(buffer, count, datatype, root));
  const auto leave = [&] { return PMPI_Bcast(buffer, count, datatype, root, comm); };
  if (buffer == MPI_IN_PLACE || !is_valid_buffer(count, datatype)) return leave();
  int code = MPI_SUCCESS;
  const Taken taken = maybe_broadcast_by_shared_slots(buffer, count, datatype, root, comm, code);
  if (taken == Taken::done) return code == MPI_SUCCESS ? MPI_SUCCESS : finish(comm, "bcast", code);
  CollectiveCall call(comm, "bcast", CollectiveCall::Lock::later, entry_after(taken));
  if (!call.is_ours() || root < 0 || root >= call.session().everybody().size()) return leave();
  const Layout layout = layout_of(datatype, count);
  if (goes_by_shared_slots(call, Kind::broadcast, layout.packed_bytes) &&
      broadcast_by_shared_slots(call, buffer, layout, root, code))
    return call.finish(delivered(), code);
  const MPI_Comm native = call.native(Kind::broadcast, layout.packed_bytes);
  if (native != MPI_COMM_NULL) {
    const auto ended = call.run(
        NativeCollective({.communicator = &call.communicator(),
                          .comm = native,
                          .root = root,
                          .buffer = buffer,
                          .layout = layout},
                         [&] { return PMPI_Bcast(buffer, count, datatype, root, native); }));
    if (ended) return *ended;
  }
  if (layout.packed_bytes >= large_broadcast_min && call.session().is_on_one_host())
    return broadcast_large(call, buffer, layout, root);
  const bool is_root =
      call.session().everybody().comm_rank(call.session().everybody().self()) == root;
  std::vector<std::byte> storage;
  std::span<const std::byte> payload{static_cast<const std::byte*>(nullptr), layout.packed_bytes};
  if (is_root) payload = packed(buffer, layout, storage);
  const runtime::Outcome outcome =
      runtime::broadcast(call.session(), call.lock(), broadcast_spec(call.communicator()), root,
                         payload, [&](std::span<const std::byte> result) {
                           if (!is_root) code = take_payload(result, buffer, layout);
                         });
  return call.finish(outcome, code);
}
