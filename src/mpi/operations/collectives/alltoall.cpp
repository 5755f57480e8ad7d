// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.
#include <optional>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/exchanges/exchange.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/shared_slots/rendezvous.hpp"
#include "mpi/carriers/shared_slots/uneven_exchange.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"

using namespace resprout::shim;

namespace {

// Leaves it to the MPI library until a loss: what the call returns; nothing if it is for the
// session. `library(comm, from, to)`: the library's call, with these buffers.
template <typename Library>
std::optional<int> leave_exchange(CollectiveCall& call, std::size_t bytes, const Pieces& receive,
                                  const void* sendbuf, void* recvbuf, Library library) {
  const MPI_Comm native = call.native(Kind::alltoall, bytes);
  if (native == MPI_COMM_NULL) return std::nullopt;
  Landing landing(receive.all(call.size()));
  const void* from = sendbuf == MPI_IN_PLACE ? landing.input_at(recvbuf) : sendbuf;
  return call.run(native, landing, [&] { return library(native, from, landing.at(recvbuf)); });
}

}  // namespace

extern "C" int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const Compared compared(comm, "alltoall",
                          call_data_of::alltoall(sendbuf, Pieces(sendbuf, sendcount, sendtype),
                                                 Pieces(recvbuf, recvcount, recvtype)));
  CollectiveCall call(comm, "alltoall");
  const Pieces send(sendbuf, sendcount, sendtype);
  const Pieces receive(recvbuf, recvcount, recvtype);
  if (!call.is_ours() || !Exchange::are_valid(sendbuf, send, receive, call.session()))
    return call.leave_to([&] {
      return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    });
  expect_counts(sendbuf, recvbuf, recvcount, recvtype, call.size());
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const std::size_t bytes = receive.of(0).layout.packed_bytes;
  const auto into = receive.all(call.size());
  const auto from_all = is_in_place ? into : send.all(call.size());
  if (const auto met = exchange_in_rendezvous(call, bytes, from_all, into)) return *met;
  const auto ended = leave_exchange(
      call, bytes, receive, sendbuf, recvbuf, [&](MPI_Comm native, const void* from, void* to) {
        return PMPI_Alltoall(from, is_in_place ? recvcount : sendcount,
                             is_in_place ? recvtype : sendtype, to, recvcount, recvtype, native);
      });
  if (ended) return *ended;
  return Exchange(call.session(), is_in_place ? receive : send, receive, true).run(call);
}

extern "C" int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  const Compared compared(
      comm, "alltoallv",
      call_data_of::alltoall(sendbuf, Pieces(sendbuf, sendcounts, sdispls, sendtype),
                             Pieces(recvbuf, recvcounts, rdispls, recvtype)));
  CollectiveCall call(comm, "alltoallv");
  const Pieces send(sendbuf, sendcounts, sdispls, sendtype);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtype);
  if (!call.is_ours() || !Exchange::are_valid(sendbuf, send, receive, call.session()))
    return call.leave_to([&] {
      return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                            recvtype, comm);
    });
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const auto met = exchange_by_shared_slots(call, is_in_place ? receive : send, receive);
  if (met) return *met;
  const auto ended = leave_exchange(
      call, bytes_unknown, receive, sendbuf, recvbuf,
      [&](MPI_Comm native, const void* from, void* to) {
        return PMPI_Alltoallv(from, is_in_place ? recvcounts : sendcounts,
                              is_in_place ? rdispls : sdispls, is_in_place ? recvtype : sendtype,
                              to, recvcounts, rdispls, recvtype, native);
      });
  if (ended) return *ended;
  return Exchange(call.session(), is_in_place ? receive : send, receive, false).run(call);
}

extern "C" int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  const Compared compared(
      comm, "alltoallw",
      call_data_of::alltoall(sendbuf, Pieces(sendbuf, sendcounts, sdispls, sendtypes),
                             Pieces(recvbuf, recvcounts, rdispls, recvtypes)));
  CollectiveCall call(comm, "alltoallw");
  const Pieces send(sendbuf, sendcounts, sdispls, sendtypes);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtypes);
  if (!call.is_ours() || !Exchange::are_valid(sendbuf, send, receive, call.session()))
    return call.leave_to([&] {
      return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                            recvtypes, comm);
    });
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const auto met = exchange_by_shared_slots(call, is_in_place ? receive : send, receive);
  if (met) return *met;
  const auto ended = leave_exchange(
      call, bytes_unknown, receive, sendbuf, recvbuf,
      [&](MPI_Comm native, const void* from, void* to) {
        return PMPI_Alltoallw(from, is_in_place ? recvcounts : sendcounts,
                              is_in_place ? rdispls : sdispls, is_in_place ? recvtypes : sendtypes,
                              to, recvcounts, rdispls, recvtypes, native);
      });
  if (ended) return *ended;
  return Exchange(call.session(), is_in_place ? receive : send, receive, false).run(call);
}
