// MPI_Allreduce over ftco_allreduce.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/lanes/lanes.hpp"
#include "mpi/carriers/slices.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/stand_ins.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/operators/reduction.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"

using namespace resprout;
using namespace resprout::shim;

extern "C" int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm) {
  const Compared compared(comm, "allreduce",
                          sides_of::allreduce(sendbuf, recvbuf, count, datatype, op));
  if (!is_valid_reduction(count, datatype, op))
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  int code = MPI_SUCCESS;
  const Taken taken = maybe_allreduce_by_lanes(sendbuf, recvbuf, count, datatype, op, comm, code);
  if (taken == Taken::done) return finish(comm, "allreduce", code);
  CollectiveCall call(comm, "allreduce", CollectiveCall::Lock::later, entry_after(taken));
  if (!call.is_ours()) return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  Reduction reduction(op, datatype, count);
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const MPI_Op lanes_op = reduction.layout().is_dense ? op : MPI_OP_NULL;
  if (goes_by_lanes(call, Kind::allreduce, reduction.layout().packed_bytes, lanes_op) &&
      allreduce_by_lanes(call, input, recvbuf, reduction.layout(), op, code))
    return call.finish(delivered(), code);
  if (const auto stand_ins = stand_ins_of(call.communicator())) {
    const runtime::Outcome outcome =
        allreduce_with(*stand_ins, call, reduction, comm, input, recvbuf);
    return call.finish(outcome, reduction.code());
  }
  const MPI_Comm native = call.native(Kind::allreduce, reduction.bytes());
  if (native != MPI_COMM_NULL) {
    const SavedInput saved(sendbuf, recvbuf, reduction.layout());
    const auto ended = call.run(NativeCollective(
        {.communicator = &call.communicator(),
         .comm = native,
         .synchronizes = true,
         .buffer = recvbuf,
         .layout = reduction.layout()},
        [&] { return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, native); }));
    if (ended) return *ended;
    saved.restore();
  }
  const Slicing slicing = slicing_of(call.session().members().size(), reduction.bytes());
  if (slicing.slices > 1 && reduction.can_be_sliced())
    return allreduce_in_slices(call, reduction, slicing, sendbuf, recvbuf);
  const runtime::Outcome outcome = call.session().allreduce(
      call.lock(), reduce_spec(call.session(), reduction.bytes()), reduction.input(input),
      reduction.combiner(), [&](std::span<const std::byte> result) {
        if (!call.session().is_revoked()) reduction.write(result, recvbuf);
      });
  return call.finish(outcome, reduction.code());
}
