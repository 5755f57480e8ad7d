// MPI_Ialltoall, MPI_Ialltoallv, MPI_Ialltoallw and their persistent forms.
#include "mpi/carriers/exchanges/exchange.hpp"
#include "mpi/carriers/shared_slots/uneven.hpp"
#include "mpi/carriers/shared_slots/uneven_exchange.hpp"
#include "mpi/carriers/started/start_small.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/errors/codes.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// What every exchange is given.
struct ExchangeArguments {
  const void* sendbuf;
  Pieces send;
  Pieces receive;

  bool are_valid(const runtime::Session& session) const {
    return Exchange::are_valid(sendbuf, send, receive, session);
  }
  const Pieces& from() const { return sendbuf == MPI_IN_PLACE ? receive : send; }
};

// Of as many elements for each pair of ranks (small_collective.hpp).
struct EvenExchangeArguments : ExchangeArguments {
  std::size_t bytes() const { return receive.of(0).layout.packed_bytes; }
  SlotWay way(const runtime::Session& session) const {
    return {.kind = Kind::alltoall,
            .bytes = bytes() * static_cast<std::size_t>(session.everybody().size())};
  }
  std::span<const std::byte> given(const runtime::Session& session,
                                   std::vector<std::byte>& storage) const {
    std::vector<std::byte> one;
    for (int rank = 0; rank < session.everybody().size(); ++rank) {
      const Piece piece = from().of(rank);
      const auto elements = packed(piece.buffer, piece.layout, one);
      storage.insert(storage.end(), elements.begin(), elements.end());
    }
    return storage;
  }
  int take(const runtime::Session& session, std::span<const Brought> all) const {
    const int self = session.everybody().comm_rank(session.everybody().self());
    const std::size_t row_bytes = bytes() * static_cast<std::size_t>(session.everybody().size());
    int code = MPI_SUCCESS;
    for (const auto& [rank, row] : all) {
      const bool is_right = row.size() == row_bytes;
      const std::size_t at = bytes() * static_cast<std::size_t>(self);
      const int taken =
          is_right ? take_block(row.subspan(at, bytes()), receive.of(rank)) : MPI_ERR_TRUNCATE;
      if (taken != MPI_SUCCESS) code = taken;
    }
    return code;
  }
  std::shared_ptr<Collective> make(MPI_Comm, runtime::Session& session) const {
    return std::make_shared<Exchange>(session, from(), receive, true);
  }
  bool is_for_program(const runtime::Session&) const { return !receive.of(0).layout.is_dense; }
  bool use(MPI_Datatype datatype) const {
    return receive.are_of(datatype) || from().are_of(datatype);
  }
};

Startable even_exchange(const EvenExchangeArguments& arguments) {
  const auto& [sendbuf, send, receive] = arguments;
  return {make_collective(arguments), call_data_of::alltoall(sendbuf, send, receive)};
}

// Of which no rank knows what the others give (shared_slots/uneven_exchange.hpp); with arrays of
// their own.
struct UnevenExchangeArguments : ExchangeArguments {
  static int ranks_in(const runtime::Session& session) { return session.everybody().size(); }
  static SlotWay way(const runtime::Session& session) {
    return {.kind = Kind::alltoall, .bytes = bytes_ahead(ranks_in(session))};
  }
  std::span<const std::byte> given(const runtime::Session& session,
                                   std::vector<std::byte>& storage) const {
    const bool is_unknown = from().depend_on_lost(session) || receive.depend_on_lost(session);
    return row_of_given(from().among(session), ranks_in(session), is_unknown, storage);
  }
  int take(const runtime::Session& session, std::span<const Brought> brought) const {
    if (!are_shares_here(brought)) return for_another_carrier;
    if (receive.depend_on_lost(session)) return proc_failed();
    const int self = session.everybody().comm_rank(session.everybody().self());
    return take_parts(brought, receive.among(session), self, ranks_in(session));
  }
  std::shared_ptr<Collective> make(MPI_Comm, runtime::Session& session) const {
    return std::make_shared<Exchange>(session, from(), receive, false);
  }
  bool is_for_program(const runtime::Session& session) const {
    return !PieceList(receive.among(session), ranks_in(session)).are_dense();
  }
  bool use(MPI_Datatype datatype) const { return receive.use(datatype) || from().use(datatype); }
};

Startable uneven_exchange(const UnevenExchangeArguments& arguments) {
  const auto& [sendbuf, send, receive] = arguments;
  return {make_collective(arguments), call_data_of::alltoall(sendbuf, send, receive)};
}

}  // namespace

extern "C" int MPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  const Pieces send(sendbuf, sendcount, sendtype);
  const Pieces receive(recvbuf, recvcount, recvtype);
  const EvenExchangeArguments arguments{sendbuf, send, receive};
  if (maybe_start_at_head(comm, "ialltoall", request, arguments)) return MPI_SUCCESS;
  return start_collective(comm, "ialltoall", request, even_exchange(arguments), [&] {
    return PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                          request);
  });
}

extern "C" int MPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request* request) {
  const UnevenExchangeArguments arguments{
      sendbuf, kept(Pieces(sendbuf, sendcounts, sdispls, sendtype), comm),
      kept(Pieces(recvbuf, recvcounts, rdispls, recvtype), comm)};
  if (maybe_start_at_head(comm, "ialltoallv", request, arguments)) return MPI_SUCCESS;
  return start_collective(comm, "ialltoallv", request, uneven_exchange(arguments), [&] {
    return PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                           recvtype, comm, request);
  });
}

extern "C" int MPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                              MPI_Request* request) {
  const UnevenExchangeArguments arguments{
      sendbuf, kept(Pieces(sendbuf, sendcounts, sdispls, sendtypes), comm),
      kept(Pieces(recvbuf, recvcounts, rdispls, recvtypes), comm)};
  if (maybe_start_at_head(comm, "ialltoallw", request, arguments)) return MPI_SUCCESS;
  return start_collective(comm, "ialltoallw", request, uneven_exchange(arguments), [&] {
    return PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                           recvtypes, comm, request);
  });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  const Pieces send(sendbuf, sendcount, sendtype);
  const Pieces receive(recvbuf, recvcount, recvtype);
  return init_collective(comm, "alltoall_init", request, even_exchange({sendbuf, send, receive}),
                         [&] {
                           return PMPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf,
                                                     recvcount, recvtype, comm, info, request);
                         });
}

extern "C" int MPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
  const Pieces send = kept(Pieces(sendbuf, sendcounts, sdispls, sendtype), comm);
  const Pieces receive = kept(Pieces(recvbuf, recvcounts, rdispls, recvtype), comm);
  return init_collective(
      comm, "alltoallv_init", request, uneven_exchange({sendbuf, send, receive}), [&] {
        return PMPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                   rdispls, recvtype, comm, info, request);
      });
}

extern "C" int MPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                  const MPI_Datatype sendtypes[], void* recvbuf,
                                  const int recvcounts[], const int rdispls[],
                                  const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  const Pieces send = kept(Pieces(sendbuf, sendcounts, sdispls, sendtypes), comm);
  const Pieces receive = kept(Pieces(recvbuf, recvcounts, rdispls, recvtypes), comm);
  return init_collective(
      comm, "alltoallw_init", request, uneven_exchange({sendbuf, send, receive}), [&] {
        return PMPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                   rdispls, recvtypes, comm, info, request);
      });
}

#endif
