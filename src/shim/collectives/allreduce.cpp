// MPI_Allreduce over ftco_allreduce.
#include "shim/collectives/call.hpp"
#include "shim/collectives/specs.hpp"

using namespace resprout;
using namespace resprout::shim;

extern "C" int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm) {
  if (!is_valid_reduction(count, datatype, op))
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  CollectiveCall call(comm, "allreduce");
  if (!call.is_ours()) return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  const Layout layout = layout_of(datatype, count);
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  MpiCombiner combiner(op, layout);
  const runtime::Outcome outcome = call.session().allreduce(
      call.lock(), reduce_spec(call.session(), layout.packed_bytes), spread(input, layout),
      combiner, [&](std::span<const std::byte> result) { gather_up(result, recvbuf, layout); });
  return call.finish(outcome, combiner.code());
}
