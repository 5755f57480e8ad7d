// The calls that start something: MPI_Isend and its kin, MPI_Irecv, persistent requests.
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/handles/requests/unsent.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/p2p/buffered_sends.hpp"
#include "mpi/policies/replicas/compared_requests.hpp"
#include "mpi/policies/replicas/gaps.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/verified_receive.hpp"
#include "openmpi/ulfm.hpp"

using namespace resprout::shim;

namespace {

// Whom a send waits for before it is complete for its sender.
enum class Until { sent, received };

// As far as can be known of a send that is neither buffered nor synchronous.
Until until(const SendBuffer& sent) {
  return is_sent_at_once(sent.count, sent.datatype) ? Until::sent : Until::received;
}

bool needs_receiver(Until until, int dest) { return until == Until::received && dest >= 0; }

// `start()` is MPI's call, which gives `*request`.
template <typename Start>
int start_send(const Sending& sending, Until until, MPI_Request* request, Start start) {
  const auto& [name, comm, dest, tag] = sending;
  GuardedCall call(name, comm);
  if (!call.is_ours()) return start();
  if (is_out_of_reach(comm, dest))
    return is_stood_in_for(comm, dest) ? start_nothing(request)
                                       : start_unsent(comm, dest, code_of_loss(comm), request);
  const int code = start();
  if (code == MPI_SUCCESS)
    remember(*request, {.comm = comm,
                        .peer = dest,
                        .kind = RequestRecord::Kind::send,
                        .needs_receiver = needs_receiver(until, dest)});
  return call.finish(code);
}

// Persistent requests: nothing is sent before MPI_Start. `make(buffer)` is MPI's call.
template <typename Make>
int init_send(const SendBuffer& buffer, const Sending& sending, Until until, MPI_Request* request,
              Make make) {
  GuardedCall call(sending.call, sending.comm);
  Flips* flips = call.is_ours() ? armed_flips.load() : nullptr;
  PersistentCopy* copy = flips != nullptr ? flips->persistent_copy(buffer, sending) : nullptr;
  const SendBuffer& from = copy != nullptr ? copy->sent() : buffer;
  const int code = make(from);
  if (call.is_ours() && code == MPI_SUCCESS)
    remember(*request, {.comm = sending.comm,
                        .peer = sending.dest,
                        .kind = RequestRecord::Kind::send,
                        .is_persistent = true,
                        .copy = copy,
                        .needs_receiver = needs_receiver(until, sending.dest)});
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  if (messages != nullptr && code == MPI_SUCCESS)
    messages->remember_persistent_send(*request, from, sending);
  return call.finish(code);
}

// What becomes of it once it is started: a send that nobody can receive.
int code_of_start(const std::optional<RequestRecord>& record) {
  if (!record || record->kind != RequestRecord::Kind::send) return MPI_SUCCESS;
  return is_out_of_reach(record->comm, record->peer) ? code_of_loss(record->comm) : MPI_SUCCESS;
}

int start(MPI_Request& request) {
  start_compared(request);
  if (is_collective(request)) return start_again(request);
  const std::optional<RequestRecord> record = recall(request);
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  int code = code_of_start(record);
  if (code != MPI_SUCCESS) {
    if (messages != nullptr) messages->start(request);
    if (is_stood_in_for(record->comm, record->peer)) return receives()->start_in_place_of(request);
    note_start(request, code);
    return MPI_SUCCESS;
  }
  if (record && record->copy != nullptr) record->copy->refresh();
  if (code = start_buffered(request); code != MPI_SUCCESS)
    return finish(record ? record->comm : MPI_COMM_WORLD, "start", code);
  const auto message = messages != nullptr ? messages->start(request) : std::nullopt;
  code = start_receive_again(request, message);
  if (code == MPI_SUCCESS) note_start(request);
  return code;
}

}  // namespace

extern "C" int MPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const Sending sending{"isend", comm, dest, tag};
  const SendBuffer sent = as_sent({buf, count, datatype}, sending);
  return start_send(sending, until(sent), request, [&] {
    return PMPI_Isend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
  });
}

extern "C" int MPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const Sending sending{"issend", comm, dest, tag};
  const SendBuffer sent = as_sent({buf, count, datatype}, sending);
  return start_send(sending, Until::received, request, [&] {
    return PMPI_Issend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
  });
}

extern "C" int MPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const Sending sending{"irsend", comm, dest, tag};
  const SendBuffer sent = as_sent({buf, count, datatype}, sending);
  return start_send(sending, until(sent), request, [&] {
    return PMPI_Irsend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
  });
}

// Also from a lost process: its message may have come before.
extern "C" int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  GuardedCall call("irecv", comm);
  if (!is_valid_buffer(count, datatype))
    return call.finish(PMPI_Irecv(buf, count, datatype, source, tag, comm, request));
  VerifiedReceive verified({"irecv", buf, count, datatype}, comm, source, tag);
  const int code =
      start_receive({buf, count, datatype, source, tag, comm, verified.ticket()}, request);
  if (code == MPI_SUCCESS) verified.go_on_as(*request);
  if (call.is_ours() && code == MPI_SUCCESS) remember(*request, {comm, source});
  return call.finish(code);
}

extern "C" int MPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                             MPI_Comm comm, MPI_Request* request) {
  const SendBuffer sent{buf, count, datatype};
  const Address to = address_of(comm, dest);
  return init_send(
      sent, {"send_init", comm, dest, tag}, until(sent), request, [&](const SendBuffer& from) {
        return PMPI_Send_init(from.data, from.count, from.datatype, to.peer, tag, to.comm, request);
      });
}

extern "C" int MPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  return init_send({buf, count, datatype}, {"ssend_init", comm, dest, tag}, Until::received,
                   request, [&](const SendBuffer& from) {
                     return PMPI_Ssend_init(from.data, from.count, from.datatype, to.peer, tag,
                                            to.comm, request);
                   });
}

extern "C" int MPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  const Address to = address_of(comm, dest);
  const Sending sending{"bsend_init", comm, dest, tag};
  return init_send(
      {buf, count, datatype}, sending, Until::sent, request, [&](const SendBuffer& from) {
        return is_bufferable(sending, from) ? init_buffered(sending, from, request)
                                            : PMPI_Bsend_init(from.data, from.count, from.datatype,
                                                              to.peer, tag, to.comm, request);
      });
}

extern "C" int MPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                              MPI_Comm comm, MPI_Request* request) {
  const SendBuffer sent{buf, count, datatype};
  const Address to = address_of(comm, dest);
  return init_send(sent, {"rsend_init", comm, dest, tag}, until(sent), request,
                   [&](const SendBuffer& from) {
                     return PMPI_Rsend_init(from.data, from.count, from.datatype, to.peer, tag,
                                            to.comm, request);
                   });
}

extern "C" int MPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                             MPI_Comm comm, MPI_Request* request) {
  GuardedCall call("recv_init", comm);
  const int code = init_receive({buf, count, datatype, source, tag, comm}, request);
  if (call.is_ours() && code == MPI_SUCCESS)
    remember(*request, {comm, source, RequestRecord::Kind::receive, true});
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  if (messages != nullptr && code == MPI_SUCCESS)
    messages->remember_persistent_receive(*request, {"recv_init", buf, count, datatype},
                                          {"recv_init", comm, source, tag});
  return call.finish(code);
}

extern "C" int MPI_Start(MPI_Request* request) {
  GuardedCall call("start");
  const bool is_ours = call.is_ours() && request != nullptr;
  return is_ours ? call.finish(start(*request)) : PMPI_Start(request);
}

extern "C" int MPI_Startall(int count, MPI_Request array_of_requests[]) {
  GuardedCall call("startall");
  if (!call.is_ours() || array_of_requests == nullptr)
    return PMPI_Startall(count, array_of_requests);
  int first_error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int code = start(array_of_requests[i]);
    if (first_error == MPI_SUCCESS) first_error = code;
  }
  return call.finish(first_error);
}
