// The calls that look for a message: MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe; and those that
// receive what was found: MPI_Mrecv, MPI_Imrecv.
#include <unordered_map>

#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/policies/replicas/gaps.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/verified_receive.hpp"
#include "mpi/policies/replicas/wildcards.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/patience.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

using namespace resprout::shim;

namespace {

// How often MPI is asked for what a process may have sent before it was lost.
constexpr int last_looks = 1000;

// MPI tells of losses, and ends what waits inside of it.
bool is_noticing(MPI_Comm comm) { return ulfm::is_active() && !is_derived(comm); }

// `look(from, flag)` is MPI's non-blocking call, `blocking(from)` the one that waits.
template <typename Look>
int look_once(MPI_Comm comm, int source, int tag, int& flag, Look look) {
  // Where MPI does not know that it is revoked it may still have a message.
  if (is_revoked(comm)) return code_of_loss(comm);
  int code = MPI_SUCCESS;
  do {
    code = look(address_of(comm, source), flag);
  } while (goes_on(comm, source, tag, code));
  if (code != MPI_SUCCESS || flag != 0 || is_noticing(comm)) return code;
  if (!has_anything_happened() || !is_hopeless(comm, source)) return code;
  for (int i = 0; i < last_looks && code == MPI_SUCCESS && flag == 0; ++i)
    code = look(address_of(comm, source), flag);
  return code == MPI_SUCCESS && flag == 0 ? code_of_loss(comm) : code;
}

template <typename Blocking, typename Look>
int look_until(MPI_Comm comm, int source, int tag, Blocking blocking, Look look) {
  int code = MPI_SUCCESS;
  if (is_noticing(comm) && !is_any_under_way()) {
    do {
      code = blocking(address_of(comm, source));
    } while (goes_on(comm, source, tag, code));
    return code;
  }
  Patience patience;
  for (int flag = 0;;) {
    code = look_once(comm, source, tag, flag, look);
    if (code != MPI_SUCCESS || flag != 0) return code;
    patience.pause();
  }
}

// As MPI_Probe; from a lost process, too, if siblings stand in for it.
int probe(MPI_Comm comm, const Decided::From& wanted, MPI_Status* status) {
  const auto [source, tag] = wanted;
  if (is_stood_in_for(comm, source)) return probe_in_gap(comm, source, tag, status);
  const int code = look_until(
      comm, source, tag,
      [&](Address from) { return PMPI_Probe(from.peer, tag, from.comm, status); },
      [&](Address from, int& flag) {
        return PMPI_Iprobe(from.peer, tag, from.comm, &flag, status);
      });
  if (code == MPI_SUCCESS) name_source(comm, status);
  const bool is_substituted = is_loss(code) && call_policy().stands_in();
  return is_substituted ? probe_in_gap(comm, source, tag, status) : code;
}

// A message that was matched, and that has to be received as MPI alone would not do it.
struct Matched {
  MPI_Comm comm = MPI_COMM_NULL;  // none: it is MPI's business
  int source = MPI_ANY_SOURCE;
  bool is_of_lost = false;  // a sibling says what is in it; the handle is that of a stand-in
};

struct MatchedMessages {
  resprout::runtime::Mutex mutex;
  std::unordered_map<MPI_Message, Matched> all RESPROUT_GUARDED_BY(mutex);
};

MatchedMessages& matched() {
  static auto* instance = new MatchedMessages;
  return *instance;
}

// It has its place among the messages of its stream now.
void note_matched(MPI_Message message, const Matched& found, int tag) {
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  if (ulfm::is_active() && !is_derived(found.comm) && messages == nullptr) return;
  if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC) return;
  const resprout::runtime::MutexLock lock(matched().mutex);
  matched().all[message] = found;
  if (messages == nullptr) return;
  if (const auto ticket = messages->post(found.comm, found.source, tag))
    messages->remember(message, *ticket);
}

Matched forget_matched(MPI_Message message) {
  const resprout::runtime::MutexLock lock(matched().mutex);
  const auto found = matched().all.extract(message);
  return found.empty() ? Matched{} : found.mapped();
}

// As MPI_Mprobe of a message that a lost process should have sent.
int match_in_gap(MPI_Comm comm, int source, int tag, MPI_Message* message, MPI_Status* status) {
  MPI_Status found;
  probe_in_gap(comm, source, tag, &found);
  *message = receives()->stand_in_message();
  note_matched(*message, {.comm = comm, .source = source, .is_of_lost = true}, found.MPI_TAG);
  copy_status(found, status);
  return MPI_SUCCESS;
}

// As MPI_Mprobe; of a lost process, too, if siblings stand in for it.
int match(MPI_Comm comm, const Decided::From& wanted, MPI_Message* message, MPI_Status* status) {
  const auto [source, tag] = wanted;
  if (is_stood_in_for(comm, source)) return match_in_gap(comm, source, tag, message, status);
  MPI_Status found;
  const int code = look_until(
      comm, source, tag,
      [&](Address from) { return PMPI_Mprobe(from.peer, tag, from.comm, message, &found); },
      [&](Address from, int& flag) {
        return PMPI_Improbe(from.peer, tag, from.comm, &flag, message, &found);
      });
  const bool is_substituted = is_loss(code) && call_policy().stands_in();
  if (is_substituted) return match_in_gap(comm, source, tag, message, status);
  if (code != MPI_SUCCESS) return code;
  name_source(comm, &found);
  copy_status(found, status);
  note_matched(*message, {.comm = comm, .source = found.MPI_SOURCE}, found.MPI_TAG);
  return MPI_SUCCESS;
}

// As MPI_Mrecv. Its beginning is here; where the rest of a long one will never come, because its
// sender is lost meanwhile, MPI says so, or is asked until it is hopeless.
int receive(const Matched& matched, const ReceiveBuffer& buffer, MPI_Message* message,
            MPI_Status* status) {
  const auto& [name, data, count, datatype] = buffer;
  if (matched.comm == MPI_COMM_NULL || ulfm::is_active())
    return PMPI_Mrecv(data, count, datatype, message, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Imrecv(data, count, datatype, message, &request);
  if (code != MPI_SUCCESS) return code;
  MPI_Status found;
  code = wait_patiently(request, RequestRecord{matched.comm, matched.source}, found);
  if (!is_loss(code)) copy_status(found, status);
  return code;
}

// The stand-in is over; what a loss leaves to be recalled.
int drop(MPI_Message* stand_in) {
  PMPI_Mrecv(nullptr, 0, MPI_BYTE, stand_in, MPI_STATUS_IGNORE);
  return proc_failed();
}

}  // namespace

extern "C" int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  GuardedCall call("probe", comm, source);
  if (!call.is_ours()) return PMPI_Probe(source, tag, comm, status);
  const Decided::From found = decided_source(comm, source, tag);
  wait_until_clear(comm, found.source, found.tag);
  return call.finish(probe(comm, found, status));
}

extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  GuardedCall call("iprobe", comm, source);
  if (!call.is_ours()) return PMPI_Iprobe(source, tag, comm, flag, status);
  if (Decided* by = decided.load(std::memory_order_acquire)) {
    const auto found = by->iprobe([&] { return look_for_message(comm, source, tag); });
    *flag = found ? 1 : 0;
    if (!found) return MPI_SUCCESS;
    wait_until_clear(comm, found->source, found->tag);
    return call.finish(probe(comm, *found, status));
  }
  const int code = look_once(comm, source, tag, *flag, [&](Address from, int& found) {
    return PMPI_Iprobe(from.peer, tag, from.comm, &found, status);
  });
  if (code == MPI_SUCCESS && *flag != 0) name_source(comm, status);
  return call.finish(code);
}

extern "C" int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                          MPI_Status* status) {
  GuardedCall call("mprobe", comm, source);
  if (!call.is_ours()) return PMPI_Mprobe(source, tag, comm, message, status);
  const Decided::From wanted = decided_source(comm, source, tag);
  wait_until_clear(comm, wanted.source, wanted.tag);
  return call.finish(match(comm, wanted, message, status));
}

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                           MPI_Status* status) {
  GuardedCall call("improbe", comm, source);
  if (!call.is_ours()) return PMPI_Improbe(source, tag, comm, flag, message, status);
  if (Decided* by = decided.load(std::memory_order_acquire)) {
    const auto found = by->iprobe([&] { return look_for_message(comm, source, tag); });
    *flag = found ? 1 : 0;
    return found ? MPI_Mprobe(found->source, found->tag, comm, message, status) : MPI_SUCCESS;
  }
  MPI_Status matched;
  const int code = look_once(comm, source, tag, *flag, [&](Address from, int& found) {
    return PMPI_Improbe(from.peer, tag, from.comm, &found, message, &matched);
  });
  if (code == MPI_SUCCESS && *flag != 0) {
    name_source(comm, &matched);
    copy_status(matched, status);
    note_matched(*message, {.comm = comm, .source = matched.MPI_SOURCE}, matched.MPI_TAG);
  }
  return call.finish(code);
}

extern "C" int MPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                         MPI_Status* status) {
  GuardedCall call("mrecv");
  if (!call.is_ours()) return PMPI_Mrecv(buf, count, datatype, message, status);
  const Matched from = forget_matched(*message);
  const ReceiveBuffer buffer{"mrecv", buf, count, datatype};
  VerifiedReceive verified(buffer, *message, from.source);
  const int code =
      from.is_of_lost ? drop(message) : receive(from, buffer, message, verified.status(status));
  if (is_loss(code)) return call.finish(verified.recover(code, status));
  verified.complete(status);
  if (from.comm != MPI_COMM_NULL) name_source(from.comm, status);
  return code;
}

extern "C" int MPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                          MPI_Request* request) {
  GuardedCall call("imrecv");
  if (!call.is_ours()) return PMPI_Imrecv(buf, count, datatype, message, request);
  const Matched from = forget_matched(*message);
  VerifiedReceive verified({"imrecv", buf, count, datatype}, *message, from.source);
  if (from.is_of_lost) return call.finish(verified.recover_started(drop(message), request));
  const int code = PMPI_Imrecv(buf, count, datatype, message, request);
  if (code != MPI_SUCCESS) return call.finish(code);
  verified.go_on_as(*request);
  if (from.comm != MPI_COMM_NULL) remember(*request, {from.comm, from.source});
  return code;
}
