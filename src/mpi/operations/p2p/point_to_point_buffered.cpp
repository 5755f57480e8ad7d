// MPI_Bsend and MPI_Ibsend, MPI_Buffer_attach and MPI_Buffer_detach: they never wait for the lost.
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/requests/unsent.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/p2p/buffered_sends.hpp"
#include "mpi/policies/replicas/gaps.hpp"
#include "mpi/policies/replicas/messages.hpp"

using namespace resprout::shim;

namespace {

// Errors of MPI's own calls have been with the program's handler.
int finish_buffered(GuardedCall& call, const Sending& sending, int code) {
  if (is_loss(code)) return call.finish(code_of_send(code));
  return finish(sending.comm, sending.call, code);
}

}  // namespace

extern "C" int MPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm) {
  const Address to = address_of(comm, dest);
  GuardedCall call("bsend", comm);
  const Sending sending{"bsend", comm, dest, tag};
  const SendBuffer sent = as_sent({buf, count, datatype}, sending);
  if (!call.is_ours() || !is_bufferable(sending, sent))
    return call.finish(PMPI_Bsend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm));
  return finish_buffered(call, sending, send_buffered(sending, sent));
}

// It is complete as soon as it is started.
extern "C" int MPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  GuardedCall call("ibsend", comm);
  const Sending sending{"ibsend", comm, dest, tag};
  const SendBuffer sent = as_sent({buf, count, datatype}, sending);
  if (!call.is_ours() || !is_bufferable(sending, sent))
    return call.finish(
        PMPI_Ibsend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request));
  if (is_stood_in_for(comm, dest)) return start_nothing(request);
  const int code = send_buffered(sending, sent);
  if (is_loss(code)) return start_unsent(comm, dest, code, request);
  return code == MPI_SUCCESS ? start_nothing(request) : finish_buffered(call, sending, code);
}

extern "C" int MPI_Buffer_attach(void* buffer, int size) {
  GuardedCall call("buffer_attach");
  return call.is_ours() ? attach_buffer(buffer, size) : PMPI_Buffer_attach(buffer, size);
}

extern "C" int MPI_Buffer_detach(void* buffer, int* size) {
  GuardedCall call("buffer_detach");
  return call.is_ours() ? detach_buffer(buffer, size) : PMPI_Buffer_detach(buffer, size);
}
