// The calls that start something: MPI_Isend and its kin, MPI_Irecv, persistent requests.
#include <vector>

#include "shim/collectives/nonblocking/under_way.hpp"
#include "shim/peers.hpp"
#include "shim/pending.hpp"
#include "shim/remade/remade.hpp"
#include "shim/replication/compared_requests.hpp"
#include "shim/replication/gaps.hpp"
#include "shim/replication/messages.hpp"
#include "shim/replication/receives.hpp"
#include "shim/ulfm.hpp"

using namespace resprout::shim;

namespace {

// A request that is complete: where siblings stand in for a process it is one of as many as in
// planes that have not lost it.
int start_nothing(MPI_Request* request) {
  return PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

// `start()` is MPI's call, which gives `*request`.
template <typename Start>
int start_send(const char* name, MPI_Comm comm, int dest, MPI_Request* request, Start start) {
  GuardedCall call(name, comm);
  if (!call.is_ours()) return start();
  if (is_out_of_reach(comm, dest)) {
    *request = MPI_REQUEST_NULL;
    if (is_stood_in_for(comm, dest)) return start_nothing(request);
    return call.finish(code_of_loss(comm));
  }
  const int code = start();
  if (code == MPI_SUCCESS) remember(*request, {comm, dest, Pending::Kind::send});
  return call.finish(code);
}

// Persistent requests: nothing is sent before MPI_Start. `make` is MPI's call.
using MakeSend = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

int init_send(const SendBuffer& buffer, const Sending& sending, MPI_Request* request,
              MakeSend* make) {
  GuardedCall call(sending.call, sending.comm);
  Flips* flips = call.is_ours() ? armed_flips.load() : nullptr;
  PersistentCopy* copy = flips != nullptr ? flips->persistent_copy(buffer, sending) : nullptr;
  const SendBuffer& from = copy != nullptr ? copy->sent() : buffer;
  const Address to = address_of(sending.comm, sending.dest);
  const int code =
      make(from.data, from.count, from.datatype, to.peer, sending.tag, to.comm, request);
  if (call.is_ours() && code == MPI_SUCCESS)
    remember(*request, {sending.comm, sending.dest, Pending::Kind::send, true, copy});
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  if (messages != nullptr && code == MPI_SUCCESS)
    messages->remember_persistent_send(*request, from, sending);
  return call.finish(code);
}

// What starting it again would come to: a send that nobody can receive.
int code_of_start(const std::optional<Pending>& pending) {
  if (!pending || pending->kind != Pending::Kind::send) return MPI_SUCCESS;
  return is_out_of_reach(pending->comm, pending->peer) ? code_of_loss(pending->comm) : MPI_SUCCESS;
}

// A request that is not started stays inactive: to wait for it is no mistake, and no wait.
int start(MPI_Request& request) {
  start_compared(request);
  if (is_collective(request)) return start_again(request);
  const std::optional<Pending> pending = recall(request);
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  int code = code_of_start(pending);
  if (code != MPI_SUCCESS) {
    if (messages != nullptr) messages->start(request);
    if (!is_stood_in_for(pending->comm, pending->peer)) return code;
    return receives()->start_in_place_of(request);
  }
  if (pending && pending->copy != nullptr) pending->copy->refresh();
  const auto message = messages != nullptr ? messages->start(request) : std::nullopt;
  code = start_receive_again(request, message);
  if (code == MPI_SUCCESS) note_start(request);
  return code;
}

}  // namespace

extern "C" int MPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const SendBuffer sent = as_sent({buf, count, datatype}, {"isend", comm, dest, tag});
  return start_send("isend", comm, dest, request, [&] {
    return PMPI_Isend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
  });
}

extern "C" int MPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const SendBuffer sent = as_sent({buf, count, datatype}, {"issend", comm, dest, tag});
  return start_send("issend", comm, dest, request, [&] {
    return PMPI_Issend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
  });
}

extern "C" int MPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const SendBuffer sent = as_sent({buf, count, datatype}, {"ibsend", comm, dest, tag});
  return start_send("ibsend", comm, dest, request, [&] {
    return PMPI_Ibsend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
  });
}

extern "C" int MPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const SendBuffer sent = as_sent({buf, count, datatype}, {"irsend", comm, dest, tag});
  return start_send("irsend", comm, dest, request, [&] {
    return PMPI_Irsend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
  });
}

// Also from a lost process: its message may have come before.
extern "C" int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  const Address from = address_of(comm, source);
  GuardedCall call("irecv", comm);
  VerifiedReceive verified({"irecv", buf, count, datatype}, comm, source, tag);
  const int code =
      start_receive({buf, count, datatype, from.peer, tag, from.comm, verified.ticket()}, request);
  if (code == MPI_SUCCESS) verified.go_on_as(*request);
  if (call.is_ours() && code == MPI_SUCCESS) remember(*request, {comm, source});
  return call.finish(code);
}

extern "C" int MPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                             MPI_Comm comm, MPI_Request* request) {
  return init_send({buf, count, datatype}, {"send_init", comm, dest, tag}, request, PMPI_Send_init);
}

extern "C" int MPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  return init_send({buf, count, datatype}, {"ssend_init", comm, dest, tag}, request,
                   PMPI_Ssend_init);
}

extern "C" int MPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  return init_send({buf, count, datatype}, {"bsend_init", comm, dest, tag}, request,
                   PMPI_Bsend_init);
}

extern "C" int MPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  return init_send({buf, count, datatype}, {"rsend_init", comm, dest, tag}, request,
                   PMPI_Rsend_init);
}

extern "C" int MPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                             MPI_Comm comm, MPI_Request* request) {
  const Address from = address_of(comm, source);
  GuardedCall call("recv_init", comm);
  const int code = init_receive({buf, count, datatype, from.peer, tag, from.comm}, request);
  if (call.is_ours() && code == MPI_SUCCESS)
    remember(*request, {comm, source, Pending::Kind::receive, true});
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  if (messages != nullptr && code == MPI_SUCCESS)
    messages->remember_persistent_receive(*request, {"recv_init", buf, count, datatype},
                                          {"recv_init", comm, source, tag});
  return call.finish(code);
}

extern "C" int MPI_Start(MPI_Request* request) {
  GuardedCall call("start");
  return call.is_ours() ? call.finish(start(*request)) : PMPI_Start(request);
}

extern "C" int MPI_Startall(int count, MPI_Request array_of_requests[]) {
  GuardedCall call("startall");
  if (!call.is_ours()) return PMPI_Startall(count, array_of_requests);
  int first_error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int code = start(array_of_requests[i]);
    if (first_error == MPI_SUCCESS) first_error = code;
  }
  return call.finish(first_error);
}
