// MPI_Igather, MPI_Igatherv, MPI_Iallgather, MPI_Iallgatherv and their persistent forms.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/carriers/shared_slots/uneven.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/start_small.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/errors/codes.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

constexpr int everybody = -1;

// What the call says; of `all` only where it is significant.
struct GatherArguments {
  const void* sendbuf;
  int sendcount;
  MPI_Datatype sendtype;
  Pieces all;
  int root;  // or `everybody`

  bool is_receiver(int rank) const { return root == everybody || root == rank; }
  bool are_valid(const runtime::Session& session) const {
    const int rank = session.everybody().comm_rank(session.everybody().self());
    const int size = session.everybody().size();
    if (root < everybody || root >= size) return false;
    if (is_receiver(rank) && !all.among(session).are_valid(size)) return false;
    if (sendbuf == MPI_IN_PLACE) return is_receiver(rank);
    return is_valid_buffer(sendcount, sendtype);
  }
  bool takes_all(const runtime::Session& session, int rank) const {
    return !is_receiver(rank) || !all.depend_on_lost(session);
  }
  Piece mine(const runtime::Session& session, int rank) const {
    if (sendbuf != MPI_IN_PLACE) return Piece::of(sendbuf, sendcount, sendtype);
    const bool has_its_own = root != everybody;
    return has_its_own || !takes_all(session, rank) ? Piece{} : all.of(rank);
  }
};

class Gather final : public Collective {
 public:
  Gather(MPI_Comm comm, runtime::Session& session, const GatherArguments& arguments)
      : Collective(session),
        comm_(comm),
        root_(arguments.root),
        except_(arguments.sendbuf == MPI_IN_PLACE ? rank() : -1),
        is_receiver_(arguments.is_receiver(rank())),
        sendtype_(arguments.sendbuf == MPI_IN_PLACE ? MPI_DATATYPE_NULL : arguments.sendtype),
        takes_all_(arguments.takes_all(session, rank())),
        all_(is_receiver_ ? PieceList(arguments.all.among(session), size()) : PieceList()),
        row_(row_of(session, rank(), arguments.mine(session, rank()), takes_all_)) {
    if (is_receiver_ && arguments.all.are_even())
      missing_values_ = missing_values_of(*communicator_of(comm));
    if (!all_.are_dense()) leave_mpi_to_program();
    if (missing_values_) leave_to_program();
  }

  bool uses(MPI_Datatype datatype) const override {
    return sendtype_ == datatype || all_.use(datatype);
  }

 private:
  void begin(runtime::Started& started) override {
    const auto& spec = concatenation_spec(session());
    if (root_ == everybody)
      started.allgather(spec, std::move(row_));
    else
      started.gather(spec, root_, std::move(row_));
  }
  void take(std::span<const std::byte> row) override {
    if (!is_receiver_) return;
    if (takes_all_) code_ = take_row(row, all_, except_);
    if (code_ == MPI_SUCCESS && !runtime::do_all_take(row)) code_ = proc_failed();
    if (missing_values_ && code_ == MPI_SUCCESS)
      fill_missing(*missing_values_, comm_, size(), row, [&](int r) { return all_.of(r); });
  }
  int code() const override { return code_; }

  const MPI_Comm comm_;
  const int root_;
  const int except_;  // its block is there already
  const bool is_receiver_;
  const MPI_Datatype sendtype_;
  const bool takes_all_;  // else its counts come from what the lost have not given
  const PieceList all_;
  runtime::Buffer row_;
  std::optional<MissingValuesOfCall> missing_values_;
  int code_ = MPI_SUCCESS;
};

// Those that may be small ones (small_collective.hpp).
struct SmallGatherArguments : GatherArguments {
  static int rank_in(const runtime::Session& session) {
    return session.everybody().comm_rank(session.everybody().self());
  }
  // What this member gives, though it may be in its place already.
  Piece own(const runtime::Session& session) const {
    if (sendbuf == MPI_IN_PLACE) return all.of(rank_in(session));
    return Piece::of(sendbuf, sendcount, sendtype);
  }
  std::shared_ptr<Collective> make(MPI_Comm comm, runtime::Session& session) const {
    return std::make_shared<Gather>(comm, session, *this);
  }
  bool use(MPI_Datatype datatype) const { return sendtype == datatype || all.are_of(datatype); }
};

// Those of which all members know how much each gives.
struct EvenGatherArguments : SmallGatherArguments {
  SlotWay way(const runtime::Session& session) const {
    const bool is_for_all = root == everybody;
    return {.form = is_for_all ? SlotWay::Form::rendezvous : SlotWay::Form::to_root,
            .kind = is_for_all ? Kind::allgather : Kind::gather,
            .bytes = is_for_all ? all.of(0).layout.packed_bytes : own(session).layout.packed_bytes,
            .root = root};
  }
  std::span<const std::byte> given(const runtime::Session& session,
                                   std::vector<std::byte>& storage) const {
    const Piece piece = own(session);
    return packed(piece.buffer, piece.layout, storage);
  }
  int take(const runtime::Session& session, std::span<const Brought> brought) const {
    const int self = rank_in(session);
    int code = MPI_SUCCESS;
    for (const auto& [rank, data] : brought) {
      if (!is_receiver(self) || (sendbuf == MPI_IN_PLACE && rank == self)) continue;
      const int taken = take_block(data, all.of(rank));
      if (taken != MPI_SUCCESS) code = taken;
    }
    return code;
  }
  bool is_for_program(const runtime::Session& session) const {
    return is_receiver(rank_in(session)) && !all.of(0).layout.is_dense;
  }
};

// Those of which each member knows what it gives itself, and who has a result knows what all give
// but for the lost (shared_slots/uneven.hpp).
struct UnevenGatherArguments : SmallGatherArguments {
  SlotWay way(const runtime::Session&) const {
    return {.form = SlotWay::Form::rendezvous,
            .kind = root == everybody ? Kind::allgather : Kind::gather,
            .bytes = 1};
  }
  // Where everybody reads what all give that is to be little.
  bool is_too_much(const Piece& given, int ranks) const {
    return root == everybody && !can_be_contribution(1 + given.layout.packed_bytes, ranks, false);
  }
  std::span<const std::byte> given(const runtime::Session& session,
                                   std::vector<std::byte>& storage) const {
    const bool is_unknown = is_receiver(rank_in(session)) && all.depend_on_lost(session);
    const Piece piece = mine(session, rank_in(session));
    const bool is_elsewhere = is_unknown || is_too_much(piece, session.everybody().size());
    return uneven_share(piece, is_elsewhere, storage);
  }
  int take(const runtime::Session& session, std::span<const Brought> brought) const {
    if (!are_shares_here(brought)) return for_another_carrier;
    const int self = rank_in(session);
    if (!is_receiver(self)) return MPI_SUCCESS;
    if (all.depend_on_lost(session)) return proc_failed();
    return take_shares(brought, all.among(session), sendbuf == MPI_IN_PLACE ? self : -1);
  }
  bool is_for_program(const runtime::Session& session) const {
    const int size = session.everybody().size();
    return is_receiver(rank_in(session)) && !PieceList(all.among(session), size).are_dense();
  }
};

// `all`: with arrays of their own, where they are significant.
MakeCollective make_gather(const GatherArguments& arguments) {
  if (arguments.all.are_even()) return make_collective(EvenGatherArguments{arguments});
  return make_collective(UnevenGatherArguments{arguments});
}

Startable allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, const Pieces& all) {
  return {make_gather({sendbuf, sendcount, sendtype, all, everybody}),
          call_data_of::allgather(sendbuf, sendcount, sendtype, all)};
}

// What MPI means by -1 is not everybody.
Startable gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, const Pieces& all,
                 int root) {
  MakeCollective make = [](MPI_Comm, Communicator&) { return nullptr; };
  if (root >= 0) make = make_gather({sendbuf, sendcount, sendtype, all, root});
  return {make, call_data_of::gather(sendbuf, sendcount, sendtype, all, root)};
}

}  // namespace

extern "C" int MPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           MPI_Request* request) {
  const Pieces all(recvbuf, recvcount, recvtype);
  const GatherArguments arguments{sendbuf, sendcount, sendtype, all, root};
  if (root >= 0 && maybe_start_at_head(comm, "igather", request, EvenGatherArguments{arguments}))
    return MPI_SUCCESS;
  return start_collective(comm, "igather", request, gather(sendbuf, sendcount, sendtype, all, root),
                          [&] {
                            return PMPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                recvtype, root, comm, request);
                          });
}

extern "C" int MPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  const Pieces all = kept_at(root, Pieces(recvbuf, recvcounts, displs, recvtype), comm);
  const GatherArguments arguments{sendbuf, sendcount, sendtype, all, root};
  if (root >= 0 && maybe_start_at_head(comm, "igatherv", request, UnevenGatherArguments{arguments}))
    return MPI_SUCCESS;
  return start_collective(comm, "igatherv", request,
                          gather(sendbuf, sendcount, sendtype, all, root), [&] {
                            return PMPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                                 displs, recvtype, root, comm, request);
                          });
}

extern "C" int MPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request* request) {
  const Pieces all(recvbuf, recvcount, recvtype);
  const GatherArguments arguments{sendbuf, sendcount, sendtype, all, everybody};
  if (maybe_start_at_head(comm, "iallgather", request, EvenGatherArguments{arguments}))
    return MPI_SUCCESS;
  return start_collective(comm, "iallgather", request, allgather(sendbuf, sendcount, sendtype, all),
                          [&] {
                            return PMPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype, comm, request);
                          });
}

extern "C" int MPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const Pieces all = kept(Pieces(recvbuf, recvcounts, displs, recvtype), comm);
  const GatherArguments arguments{sendbuf, sendcount, sendtype, all, everybody};
  if (maybe_start_at_head(comm, "iallgatherv", request, UnevenGatherArguments{arguments}))
    return MPI_SUCCESS;
  return start_collective(comm, "iallgatherv", request,
                          allgather(sendbuf, sendcount, sendtype, all), [&] {
                            return PMPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                    recvcounts, displs, recvtype, comm, request);
                          });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Pieces all(recvbuf, recvcount, recvtype);
  return init_collective(comm, "gather_init", request,
                         gather(sendbuf, sendcount, sendtype, all, root), [&] {
                           return PMPI_Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype, root, comm, info, request);
                         });
}

extern "C" int MPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, const int recvcounts[], const int displs[],
                                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  const Pieces all = kept_at(root, Pieces(recvbuf, recvcounts, displs, recvtype), comm);
  return init_collective(
      comm, "gatherv_init", request, gather(sendbuf, sendcount, sendtype, all, root), [&] {
        return PMPI_Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, root, comm, info, request);
      });
}

extern "C" int MPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Pieces all(recvbuf, recvcount, recvtype);
  return init_collective(comm, "allgather_init", request,
                         allgather(sendbuf, sendcount, sendtype, all), [&] {
                           return PMPI_Allgather_init(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcount, recvtype, comm, info, request);
                         });
}

extern "C" int MPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const int recvcounts[], const int displs[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  const Pieces all = kept(Pieces(recvbuf, recvcounts, displs, recvtype), comm);
  return init_collective(
      comm, "allgatherv_init", request, allgather(sendbuf, sendcount, sendtype, all), [&] {
        return PMPI_Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                    recvtype, comm, info, request);
      });
}

#endif
