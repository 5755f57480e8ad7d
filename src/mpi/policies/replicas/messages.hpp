// Point-to-point messages of replicated ranks: every one that this process sends or receives is
// handed to the verifier under its name.
//
// The message itself goes through the MPI library, inside of the plane. With an eager method a
// receive is complete when its message is verified; with a lazy one at once, unless it is known by
// then that copies differ. If another copy is the program's, it replaces the own one in buffer and
// status. Sends never wait: of what others may ask for a copy is kept.
//
// Of a message that is larger than its buffer (MPI_ERR_TRUNCATE) replicas have its beginning. They
// compare that with each other, and nobody compares it with what was sent.
//
// A message has its name when all receives that could have taken it are decided (streams.hpp): MPI
// has matched those, too, if it has completed this one. On
// a communicator without a name (communicator_name.hpp) messages are not verified, but counted.
//
// Lazy Fault Detection for Redundant MPI, chapters 3 and 4.
// Thread rule: from any thread; one request belongs to one thread at a time, as MPI demands.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "mpi/handles/datatypes/kept_datatype.hpp"
#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/type_padding.hpp"
#include "mpi/handles/requests/request_table.hpp"
#include "mpi/policies/inject/flips.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/lag_limiter.hpp"
#include "mpi/process/calls_mutex.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/recall.hpp"
#include "runtime/replicas/verifier.hpp"

namespace resprout::shim {

class ReplicaSubstitution;

// Where a receive call puts its message. `call`: its lower-case MPI name, a string literal.
struct ReceiveBuffer {
  const char* call = "";
  void* data = nullptr;
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

class Messages {
  struct Request;

 public:
  using Ticket = runtime::ReceivedStreams::Ticket;
  using Claim = RequestClaim<Request>;

  // Of a receive that is held back until it is decided what it takes (receives.hpp): what that is,
  // as far as it is known.
  struct HeldBack {
    std::optional<Decided::From> taken;
  };

  struct Setup {
    runtime::Verifier* verifier = nullptr;  // null: nothing is verified; then replicas stand in
    ReplicaSubstitution* replica_substitution = nullptr;  // siblings stand in for the lost
    LagLimiter* lag_limiter = nullptr;  // null: it may be as far ahead of its replicas as it likes
    bool sends_bytes = false;           // to other planes, or keeps them for those who ask
    int rank = 0;                       // of this process in the world
    std::function<void()> meanwhile;    // while a call waits for its verdict
    // Of a request; nothing: it is not held back. Null: none is.
    std::function<std::optional<HeldBack>(MPI_Request)> held_back;
  };
  explicit Messages(Setup setup) : setup_(std::move(setup)) {}

  // MPI is about to be given `buffer` to send.
  void send(const SendBuffer& buffer, const Sending& sending);

  // MPI is about to be given a receive, or has taken a message out of its queue (MPI_Mprobe).
  // Nothing: it is not verified.
  std::optional<Ticket> post(MPI_Comm comm, int source, int tag);
  // MPI has completed it: `status` is MPI's, and as the program gets it afterwards. Returns when
  // the program may have it.
  void complete(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status);
  // With replica substitution: it is decided what it takes. Its source is MPI_PROC_NULL: nothing.
  void decide(Ticket ticket, Decided::From taken);
  // MPI has given it up, as its sender is lost: a replica of the sender says what it would have
  // been. True: it has come.
  bool recover(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status);
  // The same, but for the source in its status, of what the program completes later. Does not wait;
  // true: it has come. With a verifier it was sent, and what it is is known when it is completed.
  bool maybe_recover(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status);
  // With a verifier: until it was sent; it is there when it is completed. False: there is none.
  bool wait_until_sent(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status);
  // The program asks what has come without completing it: with a verifier returns when the message
  // is there, and says its size. Nothing if MPI has it.
  void look_at(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status);
  // The message that a receive, posted now, would take of a lost process, if it was sent.
  std::optional<runtime::Recall::Headline> first_of_lost(MPI_Comm comm, int source, int tag);

  // The same for requests and matched messages. `request`: as MPI gave it.
  // Without a ticket: on a communicator without a name.
  void remember(MPI_Request request, std::optional<Ticket> ticket, const ReceiveBuffer& buffer,
                int source);
  void remember(MPI_Message message, Ticket ticket);
  std::optional<Ticket> take(MPI_Message message);
  // Of persistent ones each start is a message. `peer`: of a receive, its `dest` is the source.
  void remember_persistent_send(MPI_Request request, const SendBuffer& buffer, const Sending& peer);
  void remember_persistent_receive(MPI_Request request, const ReceiveBuffer& buffer,
                                   const Sending& peer);
  // MPI is about to start it. Gives back the ticket of a receive.
  std::optional<Ticket> start(MPI_Request request);
  // A call is about to have MPI complete it.
  Claim claim(MPI_Request request);
  // That call goes on with it no more: the handle is `after` now.
  void give_back(const Claim& claim, MPI_Request after);
  // MPI has completed it, and the call will say so: what a wildcard has taken is known from now on.
  // `status`: as MPI gave it. `held_back`: of it.
  void note_taken(const Claim& claim, const std::function<std::optional<HeldBack>()>& held_back,
                  const MPI_Status& status);
  // MPI has completed it, and its handle is `after` now. A receive that was cancelled was none.
  void complete(const Claim& claim, MPI_Request after, MPI_Status& status);
  // The same as `recover`, of a request that is no collective; one that sends is over. What nobody
  // can say, as it is on a communicator without a name, ends this process.
  bool recover(const Claim& claim, MPI_Request after, MPI_Status& status);
  // It is a receive, and under way.
  bool is_receiving(MPI_Request request);
  // The program has freed it.
  void forget(MPI_Request request);

  // How many messages of each stream there were: for a program that goes back.
  struct Counts {
    runtime::SentStreams sent;
    runtime::StreamCounts received;
    runtime::SentStreams truncated;

    bool operator==(const Counts&) const = default;
  };
  // No receive is under way, and no message taken out of MPI's queue that was not received.
  bool is_idle();
  // REQUIRES, both: is_idle().
  Counts counts();
  void set_counts(const Counts& counts);

  // Siblings stand in for the lost.
  bool is_substituting() const { return setup_.replica_substitution != nullptr; }
  // Messages on communicators without a name.
  std::uint64_t skipped() const { return skipped_.load(std::memory_order_relaxed); }

 private:
  CallsMutex mutex_;

  struct Request {
    bool is_send = false;
    std::optional<Ticket> ticket;  // of a receive that is under way
    ReceiveBuffer receive;
    SendBuffer send;
    Sending peer{};         // of a persistent one; of a receive its `dest` is the source
    KeptDatatype datatype;  // that of `receive` or `send`
  };
  // A receive of which it is not known what has come. Its communicator may be freed meanwhile, but
  // not while it is from anybody (receives.hpp).
  struct Wild {
    MPI_Comm comm = MPI_COMM_NULL;
    std::int32_t sender = runtime::ReceivedStreams::any;  // in the world
  };
  struct Arrived {
    const char* call = "";
    std::uint64_t bytes = 0;
    std::uint64_t digest = 0;
    Padding padding;  // the datatype itself may be gone when it is needed
    bool is_truncated = false;
  };

  std::optional<std::uint64_t> name_or_skip(MPI_Comm comm);
  void note_received(Ticket ticket, const MPI_Status& status);
  // The verifier gives a message that the own plane does not have.
  bool is_coming(const runtime::MessageName& name, Ticket ticket, const ReceiveBuffer& buffer);
  void decide_any_tag(std::int32_t lost) RESPROUT_REQUIRES(mutex_);
  std::optional<runtime::Recall::Headline> first_heard(std::int32_t lost,
                                                       std::uint64_t communicator,
                                                       std::int32_t tag);
  std::optional<runtime::MessageName> name_in_gap(Ticket ticket) RESPROUT_REQUIRES(mutex_);
  void add(MPI_Request request, std::shared_ptr<Request> entry);
  void resolve(Ticket ticket, Decided::From taken) RESPROUT_REQUIRES(mutex_);
  bool maybe_withdraw(Ticket ticket, const MPI_Status& status);
  // Asks MPI what has come for wildcards whose completion the program has not asked for.
  void look_at_wildcards() RESPROUT_REQUIRES(mutex_);
  // Whatever has a name by now goes to the verifier.
  void hand_in_named() RESPROUT_REQUIRES(mutex_);
  // Nothing: there is nothing to wait for.
  std::optional<runtime::MessageName> hand_in(const runtime::MessageName& name,
                                              const Arrived& arrived) RESPROUT_REQUIRES(mutex_);
  std::optional<runtime::MessageName> wait_for_name(Ticket ticket);
  void deliver(const runtime::MessageName& name, const ReceiveBuffer& buffer, MPI_Status& status);

  const Setup setup_;
  std::atomic<std::uint64_t> skipped_{0};
  runtime::SentStreams sent_ RESPROUT_GUARDED_BY(mutex_);
  runtime::ReceivedStreams received_ RESPROUT_GUARDED_BY(mutex_);
  runtime::SentStreams truncated_ RESPROUT_GUARDED_BY(mutex_);  // what is compared of them
  std::map<Ticket, Wild> wild_ RESPROUT_GUARDED_BY(mutex_);
  // With replica substitution: have come, and have no name yet.
  std::set<Ticket> unnamed_ RESPROUT_GUARDED_BY(mutex_);
  // With replica substitution: messages that the verifier gives; nothing once it has given one.
  std::map<Ticket, std::optional<runtime::MessageName>> recovered_ RESPROUT_GUARDED_BY(mutex_);
  std::map<Ticket, Arrived> arrived_ RESPROUT_GUARDED_BY(mutex_);  // and have no name yet
  // The call that completes them waits for their names. Nothing: as hand_in says.
  std::unordered_map<Ticket, std::optional<runtime::MessageName>> named_
      RESPROUT_GUARDED_BY(mutex_);
  RequestTable<Request> requests_ RESPROUT_GUARDED_BY(mutex_);
  std::unordered_map<MPI_Message, Ticket> matched_ RESPROUT_GUARDED_BY(mutex_);
};

// Of this process; null: messages are not verified. Set between two MPI calls of the program.
inline std::atomic<Messages*> verified_messages{nullptr};

// Every call that sends a message says so, once, and sends what it is given.
inline SendBuffer as_sent(const SendBuffer& buffer, const Sending& sending) {
  Flips* flips = armed_flips.load(std::memory_order_acquire);
  const SendBuffer sent = flips == nullptr ? buffer : flips->as_sent(buffer, sending);
  Messages* messages = verified_messages.load(std::memory_order_acquire);
  if (messages != nullptr) messages->send(sent, sending);
  return sent;
}

// What a call returns that could not send to a lost process: where others stand in for that, they
// say what it should have heard.
int code_of_send(int code);

}  // namespace resprout::shim
