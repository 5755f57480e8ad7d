// MPI_Iallreduce, MPI_Ireduce and their persistent forms.
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

constexpr int all_ranks = -1;

// `root`: who wants the result, or `all_ranks`.
class Reduce final : public Collective {
 public:
  Reduce(MPI_Comm comm, runtime::Session& session, const void* sendbuf, void* recvbuf,
         const Reduction& reduction, int root)
      : Collective(session),
        comm_(comm),
        recvbuf_(root == all_ranks || root == rank() ? recvbuf : nullptr),
        root_(root),
        reduction_(reduction),
        missing_values_(missing_values_of(*communicator_of(comm))) {
    input_ = reduction_.input(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    if (!commutes(reduction.op()) && root > 0) root_ = all_ranks;
    if (missing_values_ || reduction_.combiner().is_for_program()) leave_to_program();
  }

  bool uses(MPI_Datatype datatype) const override { return reduction_.datatype() == datatype; }
  bool uses(MPI_Op op) const override { return reduction_.op() == op; }

 private:
  static bool commutes(MPI_Op op) {
    int commutes = 1;
    PMPI_Op_commutative(op, &commutes);
    return commutes != 0;
  }

  void begin(runtime::Started& started) override {
    const auto& spec = reduce_spec(session(), reduction_.bytes());
    if (missing_values_)
      started.allgather(spec, row_for_missing_values(session(), input_));
    else if (root_ == all_ranks)
      started.allreduce(spec, input_, reduction_.combiner());
    else
      started.reduce(spec, root_, input_, reduction_.combiner());
  }

  void take(std::span<const std::byte> result) override {
    if (missing_values_)
      fits_ = fold_with(*missing_values_, session(), reduction_, comm_, result, {recvbuf_});
    else if (recvbuf_ != nullptr)
      reduction_.write(result, recvbuf_);
  }
  int code() const override { return fits_ ? reduction_.code() : MPI_ERR_TRUNCATE; }

  const MPI_Comm comm_;
  void* const recvbuf_;
  // A tree that is rooted elsewhere than at rank 0 starts its order at its root: right only if the
  // operator commutes. Otherwise everybody gets the result.
  int root_;
  Reduction reduction_;
  const std::optional<MissingValuesOfCall> missing_values_;
  std::span<const std::byte> input_;
  bool fits_ = true;
};

struct ReduceArguments {
  const void* sendbuf;
  void* recvbuf;
  int count;
  MPI_Datatype datatype;
  MPI_Op op;
  int root;

  bool are_valid(const runtime::Session& session) const {
    const void* const by_rank = has_result(session) ? recvbuf : sendbuf;
    return by_rank != MPI_IN_PLACE && is_valid_reduction(count, datatype, op) &&
           root >= all_ranks && root < session.everybody().size();
  }
  Layout layout() const { return layout_of(datatype, count); }
  bool has_result(const runtime::Session& session) const {
    return root == all_ranks || session.everybody().comm_rank(session.everybody().self()) == root;
  }
  SlotWay way(const runtime::Session&) const {
    const bool is_for_all = root == all_ranks;
    return {.form = is_for_all ? SlotWay::Form::rendezvous : SlotWay::Form::to_root,
            .kind = is_for_all ? Kind::allreduce : Kind::reduce,
            .bytes = layout().packed_bytes,
            .op = layout().is_dense ? op : MPI_OP_NULL,
            .root = root};
  }
  std::span<const std::byte> given(const runtime::Session&, std::vector<std::byte>&) const {
    const void* const input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    return {static_cast<const std::byte*>(input), layout().packed_bytes};
  }
  int take(const runtime::Session& session, std::span<const Brought> all) const {
    return has_result(session) ? combine_brought(all, op, layout(), recvbuf) : MPI_SUCCESS;
  }
  std::shared_ptr<Collective> make(MPI_Comm comm, runtime::Session& session) const {
    return std::make_shared<Reduce>(comm, session, sendbuf, recvbuf, Reduction(op, datatype, count),
                                    root);
  }
  static bool is_for_program(const runtime::Session&) { return true; }
  bool use(MPI_Datatype other) const { return datatype == other; }
};

Startable allreduce(const ReduceArguments& arguments) {
  const auto& [sendbuf, recvbuf, count, datatype, op, root] = arguments;
  return {make_collective(arguments),
          call_data_of::allreduce(sendbuf, recvbuf, count, datatype, op)};
}

// What MPI means by -1 is not everybody.
Startable reduce(const ReduceArguments& arguments) {
  const auto& [sendbuf, recvbuf, count, datatype, op, root] = arguments;
  MakeCollective make = [](MPI_Comm, Communicator&) { return nullptr; };
  if (root >= 0) make = make_collective(arguments);
  return {make, call_data_of::reduce(sendbuf, recvbuf, count, datatype, op, root)};
}

}  // namespace

extern "C" int MPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const ReduceArguments arguments{sendbuf, recvbuf, count, datatype, op, all_ranks};
  if (maybe_start_at_head(comm, "iallreduce", request, arguments)) return MPI_SUCCESS;
  return start_collective(comm, "iallreduce", request, allreduce(arguments), [&] {
    return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
  });
}

extern "C" int MPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
  const ReduceArguments arguments{sendbuf, recvbuf, count, datatype, op, root};
  if (root >= 0 && maybe_start_at_head(comm, "ireduce", request, arguments)) return MPI_SUCCESS;
  return start_collective(comm, "ireduce", request, reduce(arguments), [&] {
    return PMPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
  });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return init_collective(comm, "allreduce_init", request,
                         allreduce({sendbuf, recvbuf, count, datatype, op, all_ranks}), [&] {
                           return PMPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm,
                                                      info, request);
                         });
}

extern "C" int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                               MPI_Request* request) {
  return init_collective(
      comm, "reduce_init", request, reduce({sendbuf, recvbuf, count, datatype, op, root}), [&] {
        return PMPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
      });
}

#endif
