// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.
#include "shim/collectives/call.hpp"
#include "shim/collectives/exchange.hpp"
#include "shim/replication/compared.hpp"

using namespace resprout::shim;

extern "C" int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const Compared compared(comm, "alltoall",
                          sides_of::alltoall(sendbuf, Pieces(sendbuf, sendcount, sendtype),
                                             Pieces(recvbuf, recvcount, recvtype)));
  CollectiveCall call(comm, "alltoall");
  const Pieces send(sendbuf, sendcount, sendtype);
  const Pieces receive(recvbuf, recvcount, recvtype);
  if (!call.is_ours() || !Exchange::are_valid(sendbuf, send, receive, call.session()))
    return call.leave_to([&] {
      return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    });
  return Exchange(call.session(), sendbuf == MPI_IN_PLACE ? receive : send, receive, true)
      .run(call);
}

extern "C" int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  const Compared compared(
      comm, "alltoallv",
      sides_of::alltoall(sendbuf, Pieces(sendbuf, sendcounts, sdispls, sendtype),
                         Pieces(recvbuf, recvcounts, rdispls, recvtype)));
  CollectiveCall call(comm, "alltoallv");
  const Pieces send(sendbuf, sendcounts, sdispls, sendtype);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtype);
  if (!call.is_ours() || !Exchange::are_valid(sendbuf, send, receive, call.session()))
    return call.leave_to([&] {
      return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                            recvtype, comm);
    });
  return Exchange(call.session(), sendbuf == MPI_IN_PLACE ? receive : send, receive, false)
      .run(call);
}

extern "C" int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  const Compared compared(
      comm, "alltoallw",
      sides_of::alltoall(sendbuf, Pieces(sendbuf, sendcounts, sdispls, sendtypes),
                         Pieces(recvbuf, recvcounts, rdispls, recvtypes)));
  CollectiveCall call(comm, "alltoallw");
  const Pieces send(sendbuf, sendcounts, sdispls, sendtypes);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtypes);
  if (!call.is_ours() || !Exchange::are_valid(sendbuf, send, receive, call.session()))
    return call.leave_to([&] {
      return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                            recvtypes, comm);
    });
  return Exchange(call.session(), sendbuf == MPI_IN_PLACE ? receive : send, receive, false)
      .run(call);
}
