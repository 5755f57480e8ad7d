// MPI_Ialltoall, MPI_Ialltoallv, MPI_Ialltoallw and their persistent forms.
#include "mpi/carriers/exchanges/exchange.hpp"
#include "mpi/carriers/started/under_way.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

Startable exchange(const void* sendbuf, const Pieces& send, const Pieces& receive, bool is_even) {
  const auto make = [=](MPI_Comm, runtime::Session& session) -> std::shared_ptr<Collective> {
    if (!Exchange::are_valid(sendbuf, send, receive, session)) return nullptr;
    return std::make_shared<Exchange>(session, sendbuf == MPI_IN_PLACE ? receive : send, receive,
                                      is_even);
  };
  return {make, sides_of::alltoall(sendbuf, send, receive)};
}

}  // namespace

extern "C" int MPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  const Pieces send(sendbuf, sendcount, sendtype);
  const Pieces receive(recvbuf, recvcount, recvtype);
  return start_collective(comm, "ialltoall", request, exchange(sendbuf, send, receive, true), [&] {
    return PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                          request);
  });
}

extern "C" int MPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request* request) {
  const Pieces send(sendbuf, sendcounts, sdispls, sendtype);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtype);
  return start_collective(comm, "ialltoallv", request, exchange(sendbuf, send, receive, false),
                          [&] {
                            return PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                   recvcounts, rdispls, recvtype, comm, request);
                          });
}

extern "C" int MPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                              MPI_Request* request) {
  const Pieces send(sendbuf, sendcounts, sdispls, sendtypes);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtypes);
  return start_collective(comm, "ialltoallw", request, exchange(sendbuf, send, receive, false),
                          [&] {
                            return PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                                   recvcounts, rdispls, recvtypes, comm, request);
                          });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  const Pieces send(sendbuf, sendcount, sendtype);
  const Pieces receive(recvbuf, recvcount, recvtype);
  return init_collective(comm, "alltoall_init", request, exchange(sendbuf, send, receive, true),
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
      comm, "alltoallv_init", request, exchange(sendbuf, send, receive, false), [&] {
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
      comm, "alltoallw_init", request, exchange(sendbuf, send, receive, false), [&] {
        return PMPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                   rdispls, recvtypes, comm, info, request);
      });
}

#endif
