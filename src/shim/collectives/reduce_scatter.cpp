// MPI_Reduce_scatter and MPI_Reduce_scatter_block: an allreduce of which everybody takes its part.
#include <cstdint>
#include <limits>
#include <numeric>

#include "shim/collectives/call.hpp"
#include "shim/collectives/reduction.hpp"
#include "shim/collectives/specs.hpp"
#include "shim/replication/compared.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// This process gets `count` of the elements of the sum, which has `all`, from `first` on.
int reduce_scatter(CollectiveCall& call, const void* sendbuf, void* recvbuf, MPI_Datatype datatype,
                   MPI_Op op, int all, int first, int count) {
  Reduction reduction(op, datatype, all);
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const runtime::Outcome outcome = call.session().allreduce(
      call.lock(), reduce_spec(call.session(), reduction.bytes()), reduction.input(input),
      reduction.combiner(),
      [&](std::span<const std::byte> sum) { reduction.write_part(sum, first, count, recvbuf); });
  return call.finish(outcome, reduction.code());
}

bool is_valid(const CollectiveCall& call, const int* recvcounts, MPI_Datatype datatype, MPI_Op op) {
  if (recvcounts == nullptr || !is_valid_reduction(0, datatype, op)) return false;
  std::int64_t sum = 0;
  for (int rank = 0; rank < call.size(); ++rank) {
    if (recvcounts[rank] < 0) return false;
    sum += recvcounts[rank];
  }
  return sum <= std::numeric_limits<int>::max();
}

}  // namespace

extern "C" int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const Compared compared(comm, "reduce_scatter",
                          sides_of::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op));
  CollectiveCall call(comm, "reduce_scatter");
  if (!call.is_ours() || !is_valid(call, recvcounts, datatype, op))
    return call.leave_to(
        [&] { return PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm); });
  const int* own = recvcounts + call.rank();
  const int first = std::accumulate(recvcounts, own, 0);
  const int sum = std::accumulate(own, recvcounts + call.size(), first);
  return reduce_scatter(call, sendbuf, recvbuf, datatype, op, sum, first, *own);
}

extern "C" int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const Compared compared(
      comm, "reduce_scatter_block",
      sides_of::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op));
  CollectiveCall call(comm, "reduce_scatter_block");
  const bool is_ours = call.is_ours() && is_valid_reduction(recvcount, datatype, op) &&
                       recvcount <= std::numeric_limits<int>::max() / call.size();
  if (!is_ours)
    return call.leave_to(
        [&] { return PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm); });
  return reduce_scatter(call, sendbuf, recvbuf, datatype, op, recvcount * call.size(),
                        recvcount * call.rank(), recvcount);
}
