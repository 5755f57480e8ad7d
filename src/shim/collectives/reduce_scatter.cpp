// MPI_Reduce_scatter and MPI_Reduce_scatter_block: an allreduce of which everybody takes its part.
#include <cstdint>
#include <limits>
#include <numeric>

#include "shim/collectives/call.hpp"
#include "shim/collectives/specs.hpp"
#include "shim/replication/compared.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// The elements of this process begin at element `first` of the sum, which has `all` of them.
int reduce_scatter(CollectiveCall& call, const void* sendbuf, void* recvbuf, const Layout& all,
                   const Layout& mine, int first, MPI_Op op) {
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(all.datatype, &lb, &extent);
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  MpiCombiner combiner(op, all);
  const auto consume = [&](std::span<const std::byte> sum) {
    if (mine.count == 0) return;
    const auto begin = static_cast<std::size_t>(first * extent);
    gather_up(sum.subspan(begin, mine.spread_bytes), recvbuf, mine);
  };
  const runtime::Outcome outcome =
      call.session().allreduce(call.lock(), reduce_spec(call.session(), all.packed_bytes),
                               spread(input, all), combiner, consume);
  return call.finish(outcome, combiner.code());
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
  return reduce_scatter(call, sendbuf, recvbuf, layout_of(datatype, sum), layout_of(datatype, *own),
                        first, op);
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
  return reduce_scatter(call, sendbuf, recvbuf, layout_of(datatype, recvcount * call.size()),
                        layout_of(datatype, recvcount), recvcount * call.rank(), op);
}
