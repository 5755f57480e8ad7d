// MPI_Iscatter, MPI_Iscatterv and their persistent forms: as MPI_Scatter and MPI_Scatterv, one
// broadcast or two.
#include "mpi/carriers/call.hpp"
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

// What the call says; of `all` only at the root.
struct ScatterArguments {
  Pieces all;
  MPI_Datatype sendtype;
  void* recvbuf;
  int recvcount;
  MPI_Datatype recvtype;
  int root;
  bool is_even;  // all blocks are of the same length, so that everybody knows how long the row is

  bool are_valid(const runtime::Session& session) const {
    const int rank = session.everybody().comm_rank(session.everybody().self());
    const int size = session.everybody().size();
    if (root < 0 || root >= size) return false;
    if (rank == root && !all.among(session).are_valid(size)) return false;
    return recvbuf == MPI_IN_PLACE ? rank == root : is_valid_buffer(recvcount, recvtype);
  }
};

class Scatter final : public Collective {
 public:
  Scatter(MPI_Comm comm, runtime::Session& session, const ScatterArguments& arguments)
      : Collective(session),
        root_(arguments.root),
        sendtype_(rank() == root_ ? arguments.sendtype : MPI_DATATYPE_NULL),
        spec_(broadcast_spec(*communicator_of(comm))),
        is_sending_(arguments.is_even) {
    if (arguments.recvbuf != MPI_IN_PLACE)
      mine_ = Piece::of(arguments.recvbuf, arguments.recvcount, arguments.recvtype);
    bytes_ = mine_.block_bytes() * static_cast<std::size_t>(size());
    if (rank() == root_) fill_row(arguments.all);
    if (!mine_.layout.is_dense) leave_mpi_to_program();
  }

  bool uses(MPI_Datatype datatype) const override {
    return sendtype_ == datatype || mine_.layout.datatype == datatype;
  }

 private:
  // Empty: since members are lost it cannot say what is whose.
  void fill_row(const Pieces& said) {
    bytes_ = 0;
    if (said.depend_on_lost(session())) return;
    const PieceList all(said.among(session()), size());
    for (int r = 0; r < size(); ++r) bytes_ += all.of(r).block_bytes();
    row_ = session().allocate(bytes_);
    runtime::BlockWriter writer({row_.data(), row_.size()});
    for (int r = 0; r < size(); ++r) put_piece(writer, r, all.of(r));
  }

  void send_row(runtime::Started& started) {
    is_sending_ = true;
    started.broadcast(spec_, root_, {row_.data(), bytes_});
  }

  void begin(runtime::Started& started) override {
    if (is_sending_) return send_row(started);
    started.broadcast(spec_, root_, std::as_bytes(std::span(&bytes_, 1)));
  }

  // Either all have learned the size or nobody has.
  bool go_on(runtime::Started& started, const runtime::Outcome& last) override {
    if (!is_sending_ && last.is_delivered && code_ == MPI_SUCCESS && !last.is_mismatched) {
      send_row(started);
      return true;
    }
    row_ = runtime::Buffer();
    return false;
  }

  void take(std::span<const std::byte> sent) override {
    if (!is_sending_) {
      if (sent.size() != sizeof bytes_)
        code_ = MPI_ERR_TRUNCATE;
      else if (rank() != root_)
        std::memcpy(&bytes_, sent.data(), sizeof bytes_);
    } else if (sent.empty() && !session().is_whole()) {
      code_ = proc_failed();
    } else if (mine_.buffer != nullptr) {
      const auto block = runtime::find_block(sent, rank());
      code_ = block ? take_block(*block, mine_) : MPI_ERR_TRUNCATE;
    }
  }
  int code() const override { return code_; }

  const int root_;
  const MPI_Datatype sendtype_;
  const runtime::BroadcastSpec spec_;
  bool is_sending_;  // the row, and not its size
  Piece mine_;       // empty in place
  runtime::Buffer row_;
  std::uint64_t bytes_ = 0;  // of the row
  int code_ = MPI_SUCCESS;
};

// Those that may be small ones (small_collective.hpp).
struct SmallScatterArguments : ScatterArguments {
  static int rank_in(const runtime::Session& session) {
    return session.everybody().comm_rank(session.everybody().self());
  }
  Piece mine(const runtime::Session& session) const {
    if (recvbuf == MPI_IN_PLACE) return all.of(rank_in(session));
    return Piece::of(recvbuf, recvcount, recvtype);
  }
  std::shared_ptr<Collective> make(MPI_Comm comm, runtime::Session& session) const {
    return std::make_shared<Scatter>(comm, session, *this);
  }
  bool is_for_program(const runtime::Session& session) const {
    return !mine(session).layout.is_dense;
  }
  bool use(MPI_Datatype datatype) const { return sendtype == datatype || recvtype == datatype; }
};

// Those of which all members know how much each gets.
struct EvenScatterArguments : SmallScatterArguments {
  // A row of blocks, in a broadcast if that has room for it.
  SlotWay way(const runtime::Session& session) const {
    const std::size_t bytes =
        mine(session).layout.packed_bytes * static_cast<std::size_t>(session.everybody().size());
    const bool is_broadcast = bytes <= runtime::SlotMemory::broadcast_bytes_max;
    return {.form = is_broadcast ? SlotWay::Form::broadcast : SlotWay::Form::rendezvous,
            .kind = Kind::scatter,
            .bytes = bytes,
            .root = root};
  }
  std::span<const std::byte> given(const runtime::Session& session,
                                   std::vector<std::byte>& storage) const {
    if (rank_in(session) != root) return {};
    std::vector<std::byte> one;
    for (int rank = 0; rank < session.everybody().size(); ++rank) {
      const Piece piece = all.of(rank);
      const auto elements = packed(piece.buffer, piece.layout, one);
      storage.insert(storage.end(), elements.begin(), elements.end());
    }
    return storage;
  }
  // Of a member that is lost there is no row.
  int take(const runtime::Session& session, std::span<const Brought> brought) const {
    const auto row =
        std::ranges::find_if(brought, [this](const Brought& it) { return it.rank == root; });
    if (row == brought.end()) return proc_failed();
    if (recvbuf == MPI_IN_PLACE) return MPI_SUCCESS;
    const Piece into = mine(session);
    const std::size_t each = into.layout.packed_bytes;
    const std::size_t at = each * static_cast<std::size_t>(rank_in(session));
    if (row->data.size() != each * static_cast<std::size_t>(session.everybody().size()))
      return MPI_ERR_TRUNCATE;
    return take_block(row->data.subspan(at, each), into);
  }
};

// Those of which only the root knows who gets how much (shared_slots/uneven.hpp). `all`: with
// arrays of its own, at the root.
struct UnevenScatterArguments : SmallScatterArguments {
  // Of no bytes, which shared slots do not carry, where there are too many ranks.
  SlotWay way(const runtime::Session& session) const {
    const bool has_room = UnevenRow::has_room_for(session.everybody().size());
    return {.form = SlotWay::Form::broadcast,
            .kind = Kind::scatter,
            .bytes = has_room ? UnevenRow::bytes_max : 0,
            .root = root,
            .is_uneven = true};
  }
  std::span<const std::byte> given(const runtime::Session& session,
                                   std::vector<std::byte>& storage) const {
    if (rank_in(session) != root) return {};
    const UnevenRow row(session, all);
    storage.assign(row.view().begin(), row.view().end());
    return storage;
  }
  int take(const runtime::Session& session, std::span<const Brought> brought) const {
    const std::span<const std::byte> payload = brought.front().data;
    if (payload.size() > UnevenRow::bytes_max) return MPI_ERR_TRUNCATE;
    const UnevenRow row(payload);
    if (!row.is_here()) return for_another_carrier;
    if (recvbuf == MPI_IN_PLACE) return MPI_SUCCESS;
    const auto block = row.of(rank_in(session), session.everybody().size());
    return block ? take_block(*block, mine(session)) : MPI_ERR_TRUNCATE;
  }
};

Startable scatter(const ScatterArguments& arguments) {
  const MakeCollective make = arguments.is_even
                                  ? make_collective(EvenScatterArguments{arguments})
                                  : make_collective(UnevenScatterArguments{arguments});
  return {make, call_data_of::scatter(arguments.all, arguments.recvbuf, arguments.recvcount,
                                      arguments.recvtype, arguments.root)};
}

}  // namespace

extern "C" int MPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm, MPI_Request* request) {
  const Pieces all(sendbuf, sendcount, sendtype);
  const ScatterArguments arguments{all, sendtype, recvbuf, recvcount, recvtype, root, true};
  if (maybe_start_at_head(comm, "iscatter", request, EvenScatterArguments{arguments}))
    return MPI_SUCCESS;
  return start_collective(comm, "iscatter", request, scatter(arguments), [&] {
    return PMPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                         request);
  });
}

extern "C" int MPI_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  const Pieces all = kept_at(root, Pieces(sendbuf, sendcounts, displs, sendtype), comm);
  const ScatterArguments arguments{all, sendtype, recvbuf, recvcount, recvtype, root, false};
  if (maybe_start_at_head(comm, "iscatterv", request, UnevenScatterArguments{arguments}))
    return MPI_SUCCESS;
  return start_collective(comm, "iscatterv", request, scatter(arguments), [&] {
    return PMPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                          comm, request);
  });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Pieces all(sendbuf, sendcount, sendtype);
  return init_collective(comm, "scatter_init", request,
                         scatter({all, sendtype, recvbuf, recvcount, recvtype, root, true}), [&] {
                           return PMPI_Scatter_init(sendbuf, sendcount, sendtype, recvbuf,
                                                    recvcount, recvtype, root, comm, info, request);
                         });
}

extern "C" int MPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                                 MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  const Pieces all = kept_at(root, Pieces(sendbuf, sendcounts, displs, sendtype), comm);
  return init_collective(comm, "scatterv_init", request,
                         scatter({all, sendtype, recvbuf, recvcount, recvtype, root, false}), [&] {
                           return PMPI_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                                     recvcount, recvtype, root, comm, info,
                                                     request);
                         });
}

#endif
