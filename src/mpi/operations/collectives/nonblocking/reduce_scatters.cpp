// MPI_Ireduce_scatter, MPI_Ireduce_scatter_block and their persistent forms.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/start_small.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/operators/reduction.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// Whose elements are where in the sum: either a count for each rank, or one for all.
struct Shares {
  KeptCounts counts;
  int count = 0;

  int of(int rank) const { return counts ? (*counts)[static_cast<std::size_t>(rank)] : count; }
  // Of the ranks below; -1: a count is not valid.
  std::int64_t before(int rank) const {
    std::int64_t sum = 0;
    for (int r = 0; r < rank; ++r) {
      if (of(r) < 0) return -1;
      sum += of(r);
    }
    return sum;
  }
};

class ReduceScatter final : public Collective {
 public:
  ReduceScatter(MPI_Comm comm, runtime::Session& session, const void* sendbuf, void* recvbuf,
                const Shares& shares, MPI_Datatype datatype, MPI_Op op)
      : Collective(session),
        comm_(comm),
        missing_values_(missing_values_of(*communicator_of(comm))),
        recvbuf_(recvbuf),
        first_(shares.before(rank())),
        count_(shares.of(rank())),
        reduction_(op, datatype, shares.before(size())),
        input_(reduction_.input(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf)) {
    if (missing_values_ || reduction_.combiner().is_for_program()) leave_to_program();
  }

  bool uses(MPI_Datatype datatype) const override { return reduction_.datatype() == datatype; }
  bool uses(MPI_Op op) const override { return reduction_.op() == op; }

 private:
  void begin(runtime::Started& started) override {
    const auto& spec = reduce_spec(session(), reduction_.bytes());
    if (missing_values_)
      started.allgather(spec, row_for_missing_values(session(), input_));
    else
      started.allreduce(spec, input_, reduction_.combiner());
  }
  void take(std::span<const std::byte> sum) override {
    if (missing_values_)
      fits_ = fold_with(*missing_values_, session(), reduction_, comm_, sum,
                        {recvbuf_, first_, count_});
    else
      reduction_.write_part(sum, first_, count_, recvbuf_);
  }
  int code() const override { return fits_ ? reduction_.code() : MPI_ERR_TRUNCATE; }

  const MPI_Comm comm_;
  const std::optional<MissingValuesOfCall> missing_values_;
  void* const recvbuf_;
  const std::int64_t first_;  // element of the sum that is for this process
  const int count_;
  Reduction reduction_;
  bool fits_ = true;
  const std::span<const std::byte> input_;
};

struct ReduceScatterArguments {
  const void* sendbuf;
  void* recvbuf;
  Shares shares;
  MPI_Datatype datatype;
  MPI_Op op;

  bool are_valid(const runtime::Session& session) const {
    return recvbuf != MPI_IN_PLACE && is_valid_reduction(0, datatype, op) &&
           shares.before(session.everybody().size()) >= 0;
  }
  Layout layout(const runtime::Session& session) const {
    return layout_of(datatype, shares.before(session.everybody().size()));
  }
  SlotWay way(const runtime::Session& session) const {
    const Layout all = layout(session);
    return {.kind = Kind::reduce_scatter,
            .bytes = all.packed_bytes,
            .op = all.is_dense ? op : MPI_OP_NULL};
  }
  std::span<const std::byte> given(const runtime::Session& session, std::vector<std::byte>&) const {
    const void* const input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    return {static_cast<const std::byte*>(input), layout(session).packed_bytes};
  }
  int take(const runtime::Session& session, std::span<const Brought> all) const {
    const int rank = session.everybody().comm_rank(session.everybody().self());
    std::array<std::byte, runtime::SlotMemory::rendezvous_bytes_max> sum;
    const Layout whole = layout(session);
    const int code = combine_brought(all, op, whole, sum.data());
    if (code != MPI_SUCCESS || whole.count == 0) return code;
    const std::size_t each = whole.packed_bytes / static_cast<std::size_t>(whole.count);
    std::memcpy(recvbuf, sum.data() + each * static_cast<std::size_t>(shares.before(rank)),
                each * static_cast<std::size_t>(shares.of(rank)));
    return code;
  }
  std::shared_ptr<Collective> make(MPI_Comm comm, runtime::Session& session) const {
    return std::make_shared<ReduceScatter>(comm, session, sendbuf, recvbuf, shares, datatype, op);
  }
  static bool is_for_program(const runtime::Session&) { return true; }
  bool use(MPI_Datatype other) const { return datatype == other; }
};

Startable reduce_scatter(const void* sendbuf, void* recvbuf, const int* recvcounts,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const KeptCounts counts = kept(recvcounts, comm);
  if (!counts) return {[](MPI_Comm, Communicator&) { return nullptr; }};
  return {make_collective(
              ReduceScatterArguments{sendbuf, recvbuf, Shares{.counts = counts}, datatype, op}),
          [=](CallData& call_data) {
            call_data_of::reduce_scatter(sendbuf, recvbuf, counts->data(), datatype, op)(call_data);
          }};
}

Startable reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op) {
  return {make_collective(ReduceScatterArguments{
              sendbuf, recvbuf, Shares{.counts = nullptr, .count = recvcount}, datatype, op}),
          call_data_of::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op)};
}

}  // namespace

extern "C" int MPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                   MPI_Request* request) {
  if (const KeptCounts counts = kept(recvcounts, comm)) {
    const ReduceScatterArguments arguments{sendbuf, recvbuf, {.counts = counts}, datatype, op};
    if (maybe_start_at_head(comm, "ireduce_scatter", request, arguments)) return MPI_SUCCESS;
  }
  return start_collective(comm, "ireduce_scatter", request,
                          reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm), [&] {
                            return PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op,
                                                        comm, request);
                          });
}

extern "C" int MPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                         MPI_Request* request) {
  const ReduceScatterArguments arguments{
      sendbuf, recvbuf, {.counts = nullptr, .count = recvcount}, datatype, op};
  if (maybe_start_at_head(comm, "ireduce_scatter_block", request, arguments)) return MPI_SUCCESS;
  return start_collective(comm, "ireduce_scatter_block", request,
                          reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op), [&] {
                            return PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype,
                                                              op, comm, request);
                          });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                       MPI_Info info, MPI_Request* request) {
  return init_collective(comm, "reduce_scatter_init", request,
                         reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm), [&] {
                           return PMPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype,
                                                           op, comm, info, request);
                         });
}

extern "C" int MPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                             MPI_Info info, MPI_Request* request) {
  return init_collective(comm, "reduce_scatter_block_init", request,
                         reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op), [&] {
                           return PMPI_Reduce_scatter_block_init(sendbuf, recvbuf, recvcount,
                                                                 datatype, op, comm, info, request);
                         });
}

#endif
