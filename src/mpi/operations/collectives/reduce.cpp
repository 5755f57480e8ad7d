// MPI_Reduce over ftco_allreduce, of which only the root keeps the result.
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/fold_row.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/shared_slots/gathers.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/operators/reduction.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

bool keeps_rank_order(MPI_Op op, int root) {
  int commutes = 1;
  PMPI_Op_commutative(op, &commutes);
  return commutes != 0 || root == 0;
}

}  // namespace

extern "C" int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                          MPI_Op op, int root, MPI_Comm comm) {
  const Compared compared(comm, "reduce",
                          call_data_of::reduce(sendbuf, recvbuf, count, datatype, op, root));
  const auto leave = [&] { return PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm); };
  if (is_in_place_wrongly(sendbuf, recvbuf, root, comm) || !is_valid_reduction(count, datatype, op))
    return leave();
  int code = MPI_SUCCESS;
  const Taken taken =
      maybe_reduce_by_shared_slots(sendbuf, recvbuf, count, datatype, op, root, comm, code);
  if (taken == Taken::done) return code;
  CollectiveCall call(comm, "reduce", CollectiveCall::Lock::later, entry_after(taken));
  if (!call.is_ours() || root < 0 || root >= call.session().everybody().size()) return leave();
  Reduction reduction(op, datatype, count);
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const bool is_root =
      call.session().everybody().comm_rank(call.session().everybody().self()) == root;
  if (const auto met = reduce_by_shared_slots(call, reduction, sendbuf, recvbuf, root)) return *met;
  if (const auto missing_values = missing_values_of(call.communicator())) {
    const runtime::Outcome outcome = allreduce_with(*missing_values, call, reduction, comm, input,
                                                    {is_root ? recvbuf : nullptr});
    return call.finish(outcome, reduction.code());
  }
  // Only the root needs the result, so nothing would help those to whom a loss denies it.
  const MPI_Comm native = call.native(Kind::reduce, reduction.bytes());
  if (native != MPI_COMM_NULL && call.may_keep_given(reduction.bytes())) {
    Landing landing(is_root ? std::vector{Piece::of(recvbuf, count, datatype)}
                            : std::vector<Piece>());
    const auto contribution = reduction.input(input);
    const std::size_t row_bytes = runtime::block_bytes(contribution.size());
    const void* from = sendbuf == MPI_IN_PLACE ? landing.input_at(recvbuf) : sendbuf;
    void* to = is_root ? landing.at(recvbuf) : recvbuf;
    NativeGather ahead(
        {.native = native, .root = root, .kept_bytes = row_bytes, .is_done_with = is_root}, landing,
        [&] {
          runtime::Buffer row(row_bytes);
          runtime::BlockWriter({row.data(), row.size()}).put(call.rank(), contribution);
          return row;
        },
        [&] { return PMPI_Reduce(from, to, count, datatype, op, root, native); },
        [&](std::span<const std::byte> rows) {
          return fold_row(rows, call.size(), reduction, recvbuf);
        });
    return call.run_ahead(ahead);
  }
  if (native != MPI_COMM_NULL) {
    const SavedInput saved(sendbuf, recvbuf, reduction.layout());
    const auto ended = call.run(NativeCollective(
        {.communicator = &call.communicator(), .comm = native, .may_keep = false},
        [&] { return PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, native); }));
    if (ended) return *ended;
    saved.restore();
  }
  const auto consume = [&](std::span<const std::byte> result) {
    if (is_root) reduction.write(result, recvbuf);
  };
  const auto& spec = reduce_spec(call.session(), reduction.bytes());
  const auto contribution = reduction.input(input);
  runtime::Combiner& combiner = reduction.combiner();
  // A tree that is rooted elsewhere starts its order at its root: right only if the operator
  // commutes. Otherwise everybody gets the result.
  const runtime::Outcome outcome =
      keeps_rank_order(op, root)
          ? runtime::reduce(call.session(), call.lock(), spec, root, contribution, combiner,
                            consume)
          : runtime::allreduce(call.session(), call.lock(), spec, contribution, combiner, consume);
  return call.finish(outcome, reduction.code());
}
