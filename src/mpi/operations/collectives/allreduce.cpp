// MPI_Allreduce over ftco_allreduce.
#include <array>
#include <optional>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/order.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/carriers/slices.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/operators/reduction.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

struct Allreduce {
  CollectiveCall& call;
  Reduction reduction;
  const void* sendbuf;
  void* recvbuf;
  MPI_Comm comm;
  // As those who can carry it have found out.
  std::optional<MissingValuesOfCall> missing_values = {};
  MPI_Comm native = MPI_COMM_NULL;
  Slicing slicing = {};

  const void* input() const { return sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf; }
};

constexpr Carrier<Allreduce> allreduce_over_shared_slots{
    [](Allreduce& it) {
      const Layout& layout = it.reduction.layout();
      const MPI_Op op = layout.is_dense ? it.reduction.op() : MPI_OP_NULL;
      return goes_by_shared_slots(it.call, Kind::allreduce, layout.packed_bytes, op);
    },
    [](Allreduce& it) -> std::optional<int> {
      int code = MPI_SUCCESS;
      if (!allreduce_by_shared_slots(it.call, it.input(), it.recvbuf, it.reduction.layout(),
                                     it.reduction.op(), code))
        return std::nullopt;
      return it.call.finish(outcome_of_last(*it.call.communicator().shared_slots), code);
    }};

constexpr Carrier<Allreduce> allreduce_with_missing_values{
    [](Allreduce& it) {
      it.missing_values = missing_values_of(it.call.communicator());
      return it.missing_values.has_value();
    },
    [](Allreduce& it) -> std::optional<int> {
      const runtime::Outcome outcome = allreduce_with(*it.missing_values, it.call, it.reduction,
                                                      it.comm, it.input(), {it.recvbuf});
      return it.call.finish(outcome, it.reduction.code());
    }};

constexpr Carrier<Allreduce> allreduce_by_library{
    [](Allreduce& it) {
      it.native = it.call.native(Kind::allreduce, it.reduction.bytes());
      return it.native != MPI_COMM_NULL;
    },
    [](Allreduce& it) {
      const Reduction& reduction = it.reduction;
      const SavedInput saved(it.sendbuf, it.recvbuf, reduction.layout());
      const auto ended = it.call.run(NativeCollective(
          {.communicator = &it.call.communicator(),
           .comm = it.native,
           .synchronizes = true,
           .buffer = it.recvbuf,
           .layout = reduction.layout()},
          [&] {
            return PMPI_Allreduce(it.sendbuf, it.recvbuf, static_cast<int>(reduction.count()),
                                  reduction.datatype(), reduction.op(), it.native);
          }));
      if (!ended) saved.restore();
      return ended;
    }};

constexpr Carrier<Allreduce> allreduce_by_slices{
    [](Allreduce& it) {
      it.slicing = slicing_of(it.call.session().members().size(), it.reduction.bytes());
      return it.slicing.slices > 1 && it.reduction.can_be_sliced();
    },
    [](Allreduce& it) -> std::optional<int> {
      return allreduce_in_slices(it.call, it.reduction, it.slicing, it.sendbuf, it.recvbuf);
    }};

constexpr Carrier<Allreduce> allreduce_by_session{
    [](Allreduce&) { return true; },
    [](Allreduce& it) -> std::optional<int> {
      runtime::Session& session = it.call.session();
      const runtime::Outcome outcome =
          runtime::allreduce(session, it.call.lock(), reduce_spec(session, it.reduction.bytes()),
                             it.reduction.input(it.input()), it.reduction.combiner(),
                             [&](std::span<const std::byte> result) {
                               if (!session.is_revoked()) it.reduction.write(result, it.recvbuf);
                             });
      return it.call.finish(outcome, it.reduction.code());
    }};

constexpr std::array allreduce_carriers{allreduce_over_shared_slots, allreduce_with_missing_values,
                                        allreduce_by_library, allreduce_by_slices,
                                        allreduce_by_session};

}  // namespace

extern "C" int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm) {
  const Compared compared(comm, "allreduce",
                          call_data_of::allreduce(sendbuf, recvbuf, count, datatype, op));
  if (recvbuf == MPI_IN_PLACE || !is_valid_reduction(count, datatype, op))
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  int code = MPI_SUCCESS;
  const Taken taken =
      maybe_allreduce_by_shared_slots(sendbuf, recvbuf, count, datatype, op, comm, code);
  if (taken == Taken::done) return code;
  CollectiveCall call(comm, "allreduce", CollectiveCall::Lock::later, entry_after(taken));
  if (!call.is_ours()) return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  Allreduce allreduce{call, Reduction(op, datatype, count), sendbuf, recvbuf, comm};
  return carry(allreduce_carriers, allreduce);
}
