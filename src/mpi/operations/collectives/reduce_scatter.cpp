// MPI_Reduce_scatter and MPI_Reduce_scatter_block: an allreduce of which everybody takes its part.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/operators/reduction.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// This process gets `count` of the elements of the sum, which has `all`, from `first` on.
// `library(comm, from, to)`: the library's call.
template <typename Library>
int reduce_scatter(CollectiveCall& call, MPI_Comm comm, const void* sendbuf, void* recvbuf,
                   MPI_Datatype datatype, MPI_Op op, std::int64_t all, std::int64_t first,
                   int count, Library library) {
  Reduction reduction(op, datatype, all);
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const Layout& layout = reduction.layout();
  const MPI_Op shared_slots_op = layout.is_dense ? op : MPI_OP_NULL;
  if (goes_by_shared_slots(call, Kind::reduce_scatter, layout.packed_bytes, shared_slots_op)) {
    std::vector<std::byte> sum(layout.packed_bytes);
    int code = MPI_SUCCESS;
    if (allreduce_by_shared_slots(call, input, sum.data(), layout, op, code)) {
      if (code == MPI_SUCCESS) reduction.write_part(sum, first, count, recvbuf);
      return call.finish(outcome_of_last(*call.communicator().shared_slots), code);
    }
  }
  if (const auto missing_values = missing_values_of(call.communicator())) {
    const runtime::Outcome outcome =
        allreduce_with(*missing_values, call, reduction, comm, input, {recvbuf, first, count});
    return call.finish(outcome, reduction.code());
  }
  const MPI_Comm native = call.native(Kind::reduce_scatter, reduction.bytes());
  if (native != MPI_COMM_NULL) {
    Landing landing({Piece::of(recvbuf, count, datatype)});
    const void* from = sendbuf == MPI_IN_PLACE ? landing.input_at(recvbuf) : sendbuf;
    const auto ended =
        call.run(native, landing, [&] { return library(native, from, landing.at(recvbuf)); });
    if (ended) return *ended;
  }
  const runtime::Outcome outcome = runtime::allreduce(
      call.session(), call.lock(), reduce_spec(call.session(), reduction.bytes()),
      reduction.input(input), reduction.combiner(),
      [&](std::span<const std::byte> sum) { reduction.write_part(sum, first, count, recvbuf); });
  return call.finish(outcome, reduction.code());
}

bool is_valid(const CollectiveCall& call, const void* recvbuf, const int* recvcounts,
              MPI_Datatype datatype, MPI_Op op) {
  if (recvbuf == MPI_IN_PLACE || recvcounts == nullptr || !is_valid_reduction(0, datatype, op))
    return false;
  return std::all_of(recvcounts, recvcounts + call.size(), [](int count) { return count >= 0; });
}

}  // namespace

extern "C" int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const Compared compared(comm, "reduce_scatter",
                          call_data_of::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op));
  CollectiveCall call(comm, "reduce_scatter");
  if (!call.is_ours() || !is_valid(call, recvbuf, recvcounts, datatype, op))
    return call.leave_to(
        [&] { return PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm); });
  const int* own = recvcounts + call.rank();
  const auto first = std::accumulate(recvcounts, own, std::int64_t{0});
  const std::int64_t sum = std::accumulate(own, recvcounts + call.size(), first);
  return reduce_scatter(call, comm, sendbuf, recvbuf, datatype, op, sum, first, *own,
                        [&](MPI_Comm native, const void* from, void* to) {
                          return PMPI_Reduce_scatter(from, to, recvcounts, datatype, op, native);
                        });
}

extern "C" int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const Compared compared(
      comm, "reduce_scatter_block",
      call_data_of::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op));
  CollectiveCall call(comm, "reduce_scatter_block");
  const bool is_ours =
      call.is_ours() && recvbuf != MPI_IN_PLACE && is_valid_reduction(recvcount, datatype, op);
  if (!is_ours)
    return call.leave_to(
        [&] { return PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm); });
  const std::int64_t count = recvcount;
  return reduce_scatter(
      call, comm, sendbuf, recvbuf, datatype, op, count * call.size(), count * call.rank(),
      recvcount, [&](MPI_Comm native, const void* from, void* to) {
        return PMPI_Reduce_scatter_block(from, to, recvcount, datatype, op, native);
      });
}
