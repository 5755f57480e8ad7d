// MPI_Isendrecv and MPI_Isendrecv_replace: a receive, whose request the program gets, and the send
// of a copy (send_halves.hpp).
#include "mpi/carriers/started/send_halves.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/handles/requests/unsent.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/verified_receive.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

using namespace resprout::shim;

namespace {

void take_back(MPI_Request* receive) {
  if (Receives* by = receives()) by->forget(*receive);
  PMPI_Cancel(receive);
  PMPI_Wait(receive, MPI_STATUS_IGNORE);
}

// Both halves are done whatever becomes of the other one, as in MPI_Sendrecv. `native`: MPI's own
// call, which knows what is wrong with arguments.
template <typename Native>
int start(const Sending& sending, const SendBuffer& given, const ReceiveBuffer& into, int source,
          int tag, MPI_Request* request, Native native) {
  GuardedCall call(sending.call, sending.comm);
  const bool is_valid = given.count >= 0 && given.datatype != MPI_DATATYPE_NULL;
  if (!call.is_ours() || !is_valid) return call.finish(native());
  const Layout layout = layout_of(given.datatype, given.count);
  if (!is_copyable(layout)) return call.finish(native());
  SendHalf half{.sending = sending};
  if (sending.dest >= 0)
    half.world_rank = World::current()->world_rank_of(sending.comm, sending.dest);
  const SendBuffer sent = as_sent(copy_of(given, layout, half.bytes), sending);

  VerifiedReceive verified(into, sending.comm, source, tag);
  const int code = start_receive(
      {into.data, into.count, into.datatype, source, tag, sending.comm, verified.ticket()},
      request);
  if (code != MPI_SUCCESS) return call.finish(code);
  half.code = code_of_send(begin_half(half, sent));
  if (half.code != MPI_SUCCESS && (!is_loss(half.code) || source == MPI_PROC_NULL)) {
    take_back(request);
    return is_loss(half.code) ? start_unsent(sending.comm, sending.dest, half.code, request)
                              : call.finish(half.code);
  }
  verified.go_on_as(*request);
  remember(*request, {sending.comm, source});
  // MPI has one request for all that receive nothing.
  keep_send_half(source == MPI_PROC_NULL ? MPI_REQUEST_NULL : *request, std::move(half));
  return MPI_SUCCESS;
}

}  // namespace

extern "C" int MPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                             int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                             int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return start({"isendrecv", comm, dest, sendtag}, {sendbuf, sendcount, sendtype},
               {"isendrecv", recvbuf, recvcount, recvtype}, source, recvtag, request, [&] {
                 return PMPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                       recvcount, recvtype, source, recvtag, comm, request);
               });
}

extern "C" int MPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest,
                                     int sendtag, int source, int recvtag, MPI_Comm comm,
                                     MPI_Request* request) {
  return start({"isendrecv_replace", comm, dest, sendtag}, {buf, count, datatype},
               {"isendrecv_replace", buf, count, datatype}, source, recvtag, request, [&] {
                 return PMPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag,
                                               comm, request);
               });
}

#endif
