// The blocking calls: MPI_Send and its kin, MPI_Recv, MPI_Sendrecv.
//
// A send to a lost process is never handed to MPI. A receive from one is: its message may have
// come before. Where MPI does not notice losses, or collectives are under way, a blocking call is a
// non-blocking one and a wait that looks after them.
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/error_handlers/unanswered.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/openmpi/failed_requests.hpp"
#include "mpi/handles/requests/broken_sends.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/p2p/completion.hpp"
#include "mpi/policies/replicas/gaps.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/verified_receive.hpp"
#include "mpi/policies/replicas/wildcards.hpp"
#include "mpi/process/thread_level.hpp"
#include "openmpi/ulfm.hpp"

using namespace resprout::shim;

namespace {

// A call that waits inside MPI comes back if its peer is lost, and nobody needs us meanwhile.
bool may_block(MPI_Comm comm) {
  return ulfm::is_active() && !is_any_under_way() && !is_derived(comm);
}

// Nothing waits inside MPI on a derived communicator, which is never revoked there. But a blocking
// send that does not wait is safer than its other form: Open MPI 5.0 may end a process whose eager
// MPI_Isend the receiver does not live to see.
bool may_send_at_once(MPI_Comm comm, int count, MPI_Datatype datatype) {
  return is_derived(comm) && ulfm::is_active() && is_sent_at_once(count, datatype);
}

// `blocking()` is MPI's call, `start(request)` its non-blocking form.
template <typename Blocking, typename Start>
int send(const GuardedCall& call, MPI_Comm comm, int dest, bool is_at_once, Blocking blocking,
         Start start) {
  if (is_out_of_reach(comm, dest)) return code_of_loss(comm);
  if (is_at_once || may_block(comm)) {
    const BlockingSend inside(comm, dest);
    const int code = blocking();
    return code == MPI_SUCCESS && may_be_broken_off(comm) ? code_of_loss(comm) : code;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int code = start(&request);
  if (code != MPI_SUCCESS) return code;
  const RequestRecord record{comm, dest, RequestRecord::Kind::send};
  if (ulfm::is_active()) remember(request, record);
  code =
      ulfm::is_active() ? wait_one(call, request, status) : wait_patiently(request, record, status);
  return code == MPI_SUCCESS && may_be_broken_off(comm) ? code_of_loss(comm) : code;
}

template <typename Blocking, typename Start>
int guarded_send(const char* name, MPI_Comm comm, int dest, bool is_at_once, Blocking blocking,
                 Start start) {
  GuardedCall call(name, comm, dest);
  if (!call.is_ours()) return blocking();
  return call.finish(code_of_send(send(call, comm, dest, is_at_once, blocking, start)));
}

struct Receive {
  const char* call;  // lower-case MPI name
  void* buffer;
  int count;
  MPI_Datatype datatype;
  int source;
  int tag;
  MPI_Comm comm;
};

int start(const Receive& r, const VerifiedReceive& verified, MPI_Request& request) {
  // Where MPI does not know that it is revoked it may still have a message.
  if (is_revoked(r.comm)) return code_of_loss(r.comm);
  const int code = start_receive(
      {r.buffer, r.count, r.datatype, r.source, r.tag, r.comm, verified.ticket()}, &request);
  if (code == MPI_SUCCESS && ulfm::is_active()) remember(request, {r.comm, r.source});
  return code;
}

// The program hears of a loss instead of waiting on for anybody. It has no request with which it
// could go on, and what comes later is not for this call.
int take_back(MPI_Request& request, MPI_Status& status) {
  int is_done = 0;
  int is_cancelled = 0;
  forget(request);
  PMPI_Cancel(&request);
  PMPI_Request_get_status(request, &is_done, &status);
  PMPI_Test_cancelled(&status, &is_cancelled);
  PMPI_Request_free(&request);
  return is_done != 0 && is_cancelled == 0 ? MPI_SUCCESS : proc_failed();
}

// Waits for a receive that was started. A status that says nothing is not written.
int wait_for(const GuardedCall& call, MPI_Request& request, const Receive& r, MPI_Status* status) {
  MPI_Status found;
  ClaimedReceive claimed(request);
  int code = ulfm::is_active() ? wait_one(call, request, found)
                               : wait_patiently(request, RequestRecord{r.comm, r.source}, found);
  if (!ulfm::is_active() && code == MPI_SUCCESS) name_source(r.comm, &found);
  if (is_pending(code) && receives() == nullptr) code = take_back(request, found);
  if (code == MPI_SUCCESS)
    code = claimed.complete(request, found);
  else
    claimed.give_back(request);
  if (!is_loss(code)) copy_status(found, status);
  return code;
}

VerifiedReceive verified(const Receive& r) {
  return {{r.call, r.buffer, r.count, r.datatype}, r.comm, r.source, r.tag};
}

// Nothing that was started before may wait for its message, and its sender is not one for whom
// siblings stand in: what they have to say, MPI does not know.
bool may_receive_at_once(const Receive& r) {
  if (!may_block(r.comm)) return false;
  Receives* by = receives();
  return by == nullptr ||
         (by->is_clear(r.comm, r.source, r.tag) && !is_stood_in_for(r.comm, r.source));
}

// MPI's blocking receive. From anybody it is two calls, where the message may come in parts: Open
// MPI takes a receive from anybody for broken off when anybody dies, though a message that somebody
// else has begun is being written into its buffer. What is found first has a known sender.
int receive_at_once(const Receive& r, MPI_Status* status) {
  if (r.source != MPI_ANY_SOURCE || is_sent_at_once(r.count, r.datatype))
    return PMPI_Recv(r.buffer, r.count, r.datatype, r.source, r.tag, r.comm, status);
  if (!may_call_mpi_anywhere()) {  // nobody else takes what is found
    MPI_Status found;
    const int code = PMPI_Probe(MPI_ANY_SOURCE, r.tag, r.comm, &found);
    if (code != MPI_SUCCESS) return code;
    return PMPI_Recv(r.buffer, r.count, r.datatype, found.MPI_SOURCE, found.MPI_TAG, r.comm,
                     status);
  }
  MPI_Message message = MPI_MESSAGE_NULL;
  const int code = PMPI_Mprobe(MPI_ANY_SOURCE, r.tag, r.comm, &message, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? PMPI_Mrecv(r.buffer, r.count, r.datatype, &message, status) : code;
}

int receive(const GuardedCall& call, const Receive& r, MPI_Status* of_program) {
  VerifiedReceive verified_receive = verified(r);
  MPI_Status* status = verified_receive.status(of_program);
  int code = MPI_SUCCESS;
  if (may_receive_at_once(r)) {
    Receive from = r;
    do {
      code = receive_at_once(from, status);
    } while (goes_on(r.comm, from.source, r.tag, code));
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    code = start(r, verified_receive, request);
    if (code == MPI_SUCCESS) code = wait_for(call, request, r, status);
  }
  if (is_loss(code)) return verified_receive.recover(code, of_program);
  verified_receive.complete(of_program);
  return code;
}

// How an exchange has ended. If only its send has met a loss, nothing is lacking here.
struct Exchanged {
  int code;
  Lacks lacks;
};

Exchanged both(int send_code, int receive_code) {
  const bool is_lacking = is_loss(receive_code);
  return {send_code != MPI_SUCCESS ? send_code : receive_code,
          is_lacking ? Lacks::data : Lacks::nothing};
}

// Both halves are done whatever becomes of the other one: a living neighbour must not find that its
// message is missing, nor that one too many is left.
template <typename Send>
Exchanged exchange(const GuardedCall& call, const Receive& r, MPI_Status* of_program,
                   Send send_half) {
  VerifiedReceive verified_receive = verified(r);
  MPI_Status* status = verified_receive.status(of_program);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = start(r, verified_receive, request);
  if (code != MPI_SUCCESS && !is_loss(code)) return both(MPI_SUCCESS, code);
  const int send_code = code_of_send(send_half());
  if (send_code != MPI_SUCCESS && !is_loss(send_code)) {
    if (Receives* by = receives()) by->forget(request);
    forget(request);
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (request != MPI_REQUEST_NULL) {
    code = wait_for(call, request, r, status);
    if (!is_loss(code)) verified_receive.complete(of_program);
  }
  return both(send_code, verified_receive.recover(code, of_program));
}

// From anybody. Our message is on its way while the receive waits, or while replicas decide whose
// message they all receive.
Exchanged exchange_with_anybody(const GuardedCall& call, Receive r, MPI_Status* of_program,
                                const SendBuffer& sent, const Sending& sending) {
  MPI_Request request = MPI_REQUEST_NULL;
  int send_code = MPI_SUCCESS;
  const Address to = address_of(sending.comm, sending.dest);
  const bool is_stood_in = is_stood_in_for(sending.comm, sending.dest);
  if (!is_stood_in && is_out_of_reach(sending.comm, sending.dest))
    send_code = code_of_loss(sending.comm);
  else if (!is_stood_in)
    send_code = code_of_send(
        PMPI_Isend(sent.data, sent.count, sent.datatype, to.peer, sending.tag, to.comm, &request));
  if (send_code != MPI_SUCCESS && !is_loss(send_code)) return both(send_code, MPI_SUCCESS);
  const bool is_sending = request != MPI_REQUEST_NULL;
  if (is_sending && ulfm::is_active())
    remember(request, {sending.comm, sending.dest, RequestRecord::Kind::send});
  const Decided::From from = decided_source(r.comm, r.source, r.tag);
  r.source = from.source;
  r.tag = from.tag;
  const int code = receive(call, r, of_program);
  MPI_Status ignored;
  if (is_sending) send_code = code_of_send(wait_one(call, request, ignored));
  return both(send_code, code);
}

int exchange(GuardedCall& call, const Receive& r, MPI_Status* of_program, const SendBuffer& sent,
             const Sending& sending) {
  const bool is_with_anybody =
      r.source == MPI_ANY_SOURCE && (decided.load() != nullptr || may_receive_at_once(r));
  const auto finish = [&](const Exchanged& ended) { return call.finish(ended.code, ended.lacks); };
  if (is_with_anybody) return finish(exchange_with_anybody(call, r, of_program, sent, sending));
  const Address to = address_of(sending.comm, sending.dest);
  return finish(exchange(call, r, of_program, [&] {
    return send(
        call, sending.comm, sending.dest, may_send_at_once(sending.comm, sent.count, sent.datatype),
        [&] {
          return PMPI_Send(sent.data, sent.count, sent.datatype, to.peer, sending.tag, to.comm);
        },
        [&](MPI_Request* request) {
          return PMPI_Isend(sent.data, sent.count, sent.datatype, to.peer, sending.tag, to.comm,
                            request);
        });
  }));
}

}  // namespace

extern "C" int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                        MPI_Comm comm) {
  const Address to = address_of(comm, dest);
  const SendBuffer sent = as_sent({buf, count, datatype}, {"send", comm, dest, tag});
  return guarded_send(
      "send", comm, dest, may_send_at_once(comm, count, datatype),
      [&] { return PMPI_Send(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm); },
      [&](MPI_Request* request) {
        return PMPI_Isend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
      });
}

extern "C" int MPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm) {
  const Address to = address_of(comm, dest);
  const SendBuffer sent = as_sent({buf, count, datatype}, {"ssend", comm, dest, tag});
  return guarded_send(
      "ssend", comm, dest, false,
      [&] { return PMPI_Ssend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm); },
      [&](MPI_Request* request) {
        return PMPI_Issend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
      });
}

extern "C" int MPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm) {
  const Address to = address_of(comm, dest);
  const SendBuffer sent = as_sent({buf, count, datatype}, {"rsend", comm, dest, tag});
  return guarded_send(
      "rsend", comm, dest, may_send_at_once(comm, count, datatype),
      [&] { return PMPI_Rsend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm); },
      [&](MPI_Request* request) {
        return PMPI_Irsend(sent.data, sent.count, sent.datatype, to.peer, tag, to.comm, request);
      });
}

extern "C" int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                        MPI_Comm comm, MPI_Status* status) {
  GuardedCall call("recv", comm, source);
  if (!call.is_ours() || !is_valid_buffer(count, datatype))
    return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
  const Decided::From from = decided_source(comm, source, tag);
  return call.finish(
      receive(call, {"recv", buf, count, datatype, from.source, from.tag, comm}, status));
}

extern "C" int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                            int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                            int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  GuardedCall call("sendrecv", comm);
  const bool are_valid =
      is_valid_buffer(sendcount, sendtype) && is_valid_buffer(recvcount, recvtype);
  if (!call.is_ours() || !are_valid)
    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                         source, recvtag, comm, status);
  const Sending sending{"sendrecv", comm, dest, sendtag};
  const SendBuffer sent = as_sent({sendbuf, sendcount, sendtype}, sending);
  const Receive r{"sendrecv", recvbuf, recvcount, recvtype, source, recvtag, comm};
  return exchange(call, r, status, sent, sending);
}

extern "C" int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest,
                                    int sendtag, int source, int recvtag, MPI_Comm comm,
                                    MPI_Status* status) {
  GuardedCall call("sendrecv_replace", comm);
  const bool is_valid = call.is_ours() && count >= 0 && datatype != MPI_DATATYPE_NULL;
  const Layout layout = is_valid ? layout_of(datatype, count) : Layout{};
  if (!is_valid || !is_copyable(layout))
    return call.finish(
        PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status));
  std::vector<std::byte> bytes;
  const Sending sending{"sendrecv_replace", comm, dest, sendtag};
  const SendBuffer given{buf, count, datatype};  // with nobody to send it to, it may be no buffer
  const SendBuffer sent =
      dest == MPI_PROC_NULL ? given : as_sent(copy_of(given, layout, bytes), sending);
  const Receive r{"sendrecv_replace", buf, count, datatype, source, recvtag, comm};
  return exchange(call, r, status, sent, sending);
}
