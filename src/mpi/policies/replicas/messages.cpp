#include "mpi/policies/replicas/messages.hpp"

#include <algorithm>

#include "core/invariant.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/policies/digests/digest.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"
#include "mpi/process/names.hpp"
#include "runtime/idle.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

using runtime::MessageName;
using runtime::Recall;
using runtime::ReceivedStreams;
using runtime::Stream;

constexpr const char* nobody_left = "waits for a rank of which no replica is left";

// Else the MPI library is asked to say what is wrong with them.
bool is_message(int count, MPI_Datatype datatype, int peer) {
  return count >= 0 && datatype != MPI_DATATYPE_NULL && peer >= 0;
}

int world_rank_of(MPI_Comm comm, int rank) {
  const auto& world_ranks = communicator_of(comm)->world_ranks;
  const bool is_in_it = rank >= 0 && rank < static_cast<int>(world_ranks.size());
  return is_in_it ? world_ranks[static_cast<std::size_t>(rank)] : MPI_UNDEFINED;
}

std::size_t bytes_in(const MPI_Status& status) {
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// Of nearly all messages it is what takes no memory.
runtime::Votes::DigestOf digest_of_copy(const Padding& padding) {
  if (!padding.has_any())
    return [](std::span<const std::byte> copy) { return digest_of_packed(copy).low; };
  return [padding](std::span<const std::byte> copy) { return digest_of_packed(copy, padding).low; };
}

// Replicas of the receiver compare what they have of messages that are larger than their buffers.
Stream truncated(const Stream& of) {
  return {of.communicator, of.receiver, of.receiver, of.tag, Stream::Of::truncated};
}

// As if MPI had received it.
void put(std::span<const std::byte> bytes, const ReceiveBuffer& buffer, MPI_Status& status) {
  const std::size_t element = std::max(std::size_t{1}, facts_of(buffer.datatype).size);
  const std::size_t elements =
      std::min(bytes.size() / element, static_cast<std::size_t>(buffer.count));
  const Layout layout = layout_of(buffer.datatype, static_cast<std::int64_t>(elements));
  unpack(bytes.first(layout.packed_bytes), buffer.data, layout);
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(layout.packed_bytes));
}

}  // namespace

std::optional<std::uint64_t> Messages::name_or_skip(MPI_Comm comm) {
  const auto name = name_of(comm);
  if (!name) skipped_.fetch_add(1, std::memory_order_relaxed);
  return name;
}

// --- sending
// ------------------------------------------------------------------------------------

void Messages::send(const SendBuffer& buffer, const Sending& sending) {
  if (!is_message(buffer.count, buffer.datatype, sending.dest)) return;
  settle_decisions();
  const auto communicator = name_or_skip(sending.comm);
  if (!communicator) return;
  const int receiver = world_rank_of(sending.comm, sending.dest);
  if (receiver == MPI_UNDEFINED) return;
  const Stream stream{*communicator, setup_.rank, receiver, sending.tag, Stream::Of::messages};
  const Layout layout = layout_of(buffer.datatype, buffer.count);
  if (setup_.lag_limiter != nullptr) setup_.lag_limiter->wait_and_count_sent(layout.packed_bytes);
  const bool needs_bytes = setup_.sends_bytes || setup_.replica_substitution != nullptr;
  std::vector<std::byte> storage;
  std::span<const std::byte> bytes;
  if (needs_bytes) bytes = packed(buffer.data, layout, storage);
  runtime::MutexLock lock(mutex_);
  const MessageName name = sent_.next(stream);
  if (setup_.replica_substitution != nullptr)
    setup_.replica_substitution->keep(name, bytes, {{stream.receiver}});
  lock.unlock();
  if (setup_.verifier == nullptr) return;
  // Packed once, if that has to be.
  const std::uint64_t digest = needs_bytes && !layout.is_dense
                                   ? digest_of_packed(bytes, facts_of(buffer.datatype).padding).low
                                   : digest_of(buffer.data, layout).low;
  setup_.verifier->send(name, digest, bytes);
}

int code_of_send(int code) {
  return is_loss(code) && replica_substitution.load(std::memory_order_acquire) != nullptr
             ? MPI_SUCCESS
             : code;
}

// --- receiving
// ------------------------------------------------------------------------------------

std::optional<Messages::Ticket> Messages::post(MPI_Comm comm, int source, int tag) {
  const bool is_any_source = source == MPI_ANY_SOURCE;
  if (comm == MPI_COMM_NULL || (source < 0 && !is_any_source)) return std::nullopt;
  const auto communicator = name_or_skip(comm);
  if (!communicator) return std::nullopt;
  const int sender = is_any_source ? ReceivedStreams::any : world_rank_of(comm, source);
  if (sender == MPI_UNDEFINED) return std::nullopt;
  if (setup_.lag_limiter != nullptr) setup_.lag_limiter->wait_for_receive();
  Stream stream{*communicator, sender, setup_.rank, tag, Stream::Of::messages};
  if (tag == MPI_ANY_TAG) stream.tag = ReceivedStreams::any;
  const runtime::MutexLock lock(mutex_);
  const Ticket ticket = received_.post(stream);
  if (is_any_source || tag == MPI_ANY_TAG) wild_[ticket] = {comm, sender};
  return ticket;
}

void Messages::resolve(Ticket ticket, Decided::From taken) {
  const auto wild = wild_.find(ticket);
  if (wild == wild_.end()) return;
  if (taken.source == MPI_PROC_NULL) {
    received_.withdraw(ticket);
  } else {
    const auto [comm, sender] = wild->second;
    const bool is_known = sender != ReceivedStreams::any;
    received_.resolve(ticket, is_known ? sender : world_rank_of(comm, taken.source), taken.tag);
  }
  wild_.erase(wild);
}

bool Messages::maybe_withdraw(Ticket ticket, const MPI_Status& status) {
  int is_cancelled = 0;
  PMPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled == 0) return false;
  const runtime::MutexLock lock(mutex_);
  resolve(ticket, {});
  return true;
}

void Messages::complete(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status) {
  if (setup_.lag_limiter != nullptr) setup_.lag_limiter->count_received();
  if (setup_.replica_substitution != nullptr) {
    runtime::MutexLock lock(mutex_);
    const bool is_recovered = recovered_.contains(ticket);
    lock.unlock();
    if (is_recovered) look_at(ticket, buffer, status);
    if (is_recovered || setup_.verifier == nullptr) return note_received(ticket, status);
  }
  const Layout layout = layout_of(buffer.datatype, buffer.count);
  const std::size_t sent = bytes_in(status);
  const std::size_t bytes = std::min(sent, layout.packed_bytes);
  const Arrived arrived{buffer.call, bytes, digest_of_received(buffer.data, layout, bytes).low,
                        facts_of(buffer.datatype).padding, sent > bytes};
  std::optional<MessageName> name;
  {
    runtime::MutexLock lock(mutex_);
    resolve(ticket, {status.MPI_SOURCE, status.MPI_TAG});
    if (arrived_.empty()) name = received_.take(ticket);
    if (name) {
      name = hand_in(*name, arrived);
    } else {
      arrived_[ticket] = arrived;
      hand_in_named();
      lock.unlock();
      name = wait_for_name(ticket);
    }
  }
  if (name) deliver(*name, buffer, status);
}

void Messages::hand_in_named() {
  for (auto at = arrived_.begin(); at != arrived_.end();) {
    const auto name = received_.take(at->first);
    if (!name) {
      ++at;
      continue;
    }
    named_[at->first] = hand_in(*name, at->second);
    at = arrived_.erase(at);
  }
}

std::optional<MessageName> Messages::hand_in(const MessageName& name, const Arrived& arrived) {
  runtime::Verifier::Expected expected{name, arrived.call, arrived.bytes,
                                       digest_of_copy(arrived.padding)};
  bool is_through = true;
  if (arrived.is_truncated) {  // the call returns an error in any case, so it waits for no verdict
    setup_.verifier->abstain(name);
    expected.name = truncated_.next(truncated(name.stream));
    setup_.verifier->compare(expected, arrived.digest, false);
  } else {
    is_through = setup_.verifier->receive_copy(expected, arrived.digest);
  }
  if (is_through && setup_.replica_substitution != nullptr)
    setup_.replica_substitution->note_received(name);
  return is_through ? std::nullopt : std::optional(name);
}

// A receive that is complete may be behind a wildcard that is, too, and that nobody has asked for.
std::optional<MessageName> Messages::wait_for_name(Ticket ticket) {
  runtime::Idle idle{runtime::IdleStrategy{}};
  runtime::MutexLock lock(mutex_);
  for (;;) {
    if (const auto found = named_.extract(ticket); !found.empty()) return found.mapped();
    lock.unlock();
    setup_.meanwhile();
    idle.pause();
    lock.lock();
    look_at_wildcards();
    hand_in_named();
  }
}

// Without the lock: MPI's progress may look for what wildcards take.
void Messages::look_at_wildcards() {
  std::vector<std::pair<MPI_Request, Ticket>> wild;
  requests_.for_each_unclaimed([&](MPI_Request request, const auto& entry) RESPROUT_NOT_CHECKED {
    if (entry->ticket && wild_.contains(*entry->ticket)) wild.emplace_back(request, *entry->ticket);
  });
  mutex_.unlock();
  std::vector<std::pair<Ticket, Decided::From>> resolved;
  for (const auto& [request, ticket] : wild) {
    if (const auto held_back = setup_.held_back ? setup_.held_back(request) : std::nullopt) {
      if (held_back->taken) resolved.emplace_back(ticket, *held_back->taken);
      continue;
    }
    int flag = 0;
    MPI_Status status;
    if (PMPI_Request_get_status(request, &flag, &status) == MPI_SUCCESS && flag != 0)
      resolved.emplace_back(ticket, Decided::From{status.MPI_SOURCE, status.MPI_TAG});
  }
  mutex_.lock();
  for (const auto& [ticket, taken] : resolved) resolve(ticket, taken);
}

void Messages::deliver(const MessageName& name, const ReceiveBuffer& buffer, MPI_Status& status) {
  const runtime::Verifier::Delivery delivery = setup_.verifier->wait(name, setup_.meanwhile);
  if (delivery.what == runtime::Verifier::Delivery::What::other)
    put(delivery.bytes, buffer, status);
  if (setup_.replica_substitution == nullptr) return;
  if (delivery.what == runtime::Verifier::Delivery::What::lost)
    setup_.replica_substitution->end_here(mpi_name_of(buffer.call), nobody_left);
  setup_.replica_substitution->note_received(name);
}

// --- what others stand in for
// ---------------------------------------------------------------------

void Messages::note_received(Ticket ticket, const MPI_Status& status) {
  const runtime::MutexLock lock(mutex_);
  recovered_.erase(ticket);
  resolve(ticket, {status.MPI_SOURCE, status.MPI_TAG});  // unless that was decided
  unnamed_.insert(ticket);
  std::erase_if(unnamed_, [&](Ticket done) RESPROUT_REQUIRES(mutex_) {
    const auto name = received_.take(done);
    if (name) setup_.replica_substitution->note_received(*name);
    return name.has_value();
  });
}

void Messages::decide(Ticket ticket, Decided::From taken) {
  const runtime::MutexLock lock(mutex_);
  resolve(ticket, taken);
}

std::optional<Recall::Headline> Messages::first_heard(std::int32_t lost, std::uint64_t communicator,
                                                      std::int32_t tag) {
  return setup_.replica_substitution->first_heard(
      lost, communicator, tag,
      [&](const Stream& stream) RESPROUT_REQUIRES(mutex_) { return received_.named(stream); });
}

// Messages of one process come in one order, so it is known what receives of any tag from a lost
// one take, or have taken.
void Messages::decide_any_tag(std::int32_t lost) {
  Ticket behind = 0;
  while (const auto open = received_.first_of_any_tag(lost, behind)) {
    behind = open->ticket;
    const auto next = first_heard(lost, open->stream.communicator, ReceivedStreams::any);
    if (!next) continue;
    received_.resolve(open->ticket, lost, next->name.stream.tag);
    wild_.erase(open->ticket);
    behind = 0;
  }
}

std::optional<MessageName> Messages::name_in_gap(Ticket ticket) {
  const auto sender = received_.sender_of(ticket);
  if (sender && *sender != ReceivedStreams::any) decide_any_tag(*sender);
  return received_.name_of(ticket);
}

std::optional<Recall::Headline> Messages::first_of_lost(MPI_Comm comm, int source, int tag) {
  const auto communicator = name_of(comm);
  if (!communicator) end_for_unknown("a receive of any message");
  const std::int32_t lost = world_rank_of(comm, source);
  const runtime::MutexLock lock(mutex_);
  decide_any_tag(lost);
  return first_heard(lost, *communicator, tag == MPI_ANY_TAG ? ReceivedStreams::any : tag);
}

bool Messages::maybe_recover(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status) {
  runtime::MutexLock lock(mutex_);
  const std::optional<MessageName> name = name_in_gap(ticket);
  lock.unlock();
  if (!name) return false;
  if (setup_.verifier != nullptr) {
    if (!is_coming(*name, ticket, buffer)) return false;
  } else {
    const auto bytes =
        setup_.replica_substitution->maybe_recall(*name, name->stream.sender, buffer.call);
    if (!bytes) return false;
    put(*bytes, buffer, status);
  }
  status.MPI_TAG = name->stream.tag;
  status.MPI_ERROR = MPI_SUCCESS;
  return true;
}

// Its own sender is lost: the vote asks others for the data.
bool Messages::is_coming(const MessageName& name, Ticket ticket, const ReceiveBuffer& buffer) {
  runtime::MutexLock lock(mutex_);
  const bool is_new = recovered_.emplace(ticket, name).second;
  lock.unlock();
  if (is_new) {
    const Padding& padding = facts_of(buffer.datatype).padding;
    setup_.verifier->receive({name, buffer.call, 0, digest_of_copy(padding)}, true);
  }
  return setup_.verifier->is_coming(name);
}

void Messages::look_at(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status) {
  using What = runtime::Verifier::Delivery::What;
  runtime::MutexLock lock(mutex_);
  const auto at = recovered_.find(ticket);
  if (at == recovered_.end() || !at->second) return;
  const MessageName name = *std::exchange(at->second, std::nullopt);
  lock.unlock();
  const auto delivery = setup_.verifier->wait(name, setup_.meanwhile);
  if (delivery.what == What::lost)
    setup_.replica_substitution->end_here(mpi_name_of(buffer.call), nobody_left);
  if (delivery.what == What::undecided)
    setup_.replica_substitution->end_here(
        mpi_name_of(buffer.call),
        "waits for a lost rank, of which two replicas say different things");
  put(delivery.bytes, buffer, status);
}

bool Messages::recover(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status) {
  if (setup_.replica_substitution == nullptr) return false;
  setup_.replica_substitution->wait_for([&] { return maybe_recover(ticket, buffer, status); });
  complete(ticket, buffer, status);
  return true;
}

bool Messages::recover(const Claim& claim, MPI_Request after, MPI_Status& status) {
  if (setup_.replica_substitution == nullptr) return false;
  if (!claim || claim.entry->is_send) return true;
  const Request& entry = *claim.entry;
  runtime::MutexLock lock(mutex_);
  const std::optional<Ticket> ticket = std::exchange(claim.entry->ticket, std::nullopt);
  if (!ticket) end_for_unknown(mpi_name_of(entry.receive.call).c_str());
  requests_.settle(claim, after);
  lock.unlock();
  recover(*ticket, entry.receive, status);
  status.MPI_SOURCE = entry.peer.dest;
  return true;
}

bool Messages::wait_until_sent(Ticket ticket, const ReceiveBuffer& buffer, MPI_Status& status) {
  if (setup_.verifier == nullptr) return false;
  setup_.replica_substitution->wait_for([&] { return maybe_recover(ticket, buffer, status); });
  return true;
}

// --- requests
// ------------------------------------------------------------------------------------

// What had the handle before ends without the mutex.
void Messages::add(MPI_Request request, std::shared_ptr<Request> entry) {
  MPI_Datatype& used = entry->is_send ? entry->send.datatype : entry->receive.datatype;
  entry->datatype = KeptDatatype(used);
  used = entry->datatype.handle();
  std::shared_ptr<Request> before;
  const runtime::MutexLock lock(mutex_);
  before = requests_.put(request, std::move(entry));
}

void Messages::remember(MPI_Request request, std::optional<Ticket> ticket,
                        const ReceiveBuffer& buffer, int source) {
  auto entry = std::make_shared<Request>();
  entry->ticket = ticket;
  entry->receive = buffer;
  entry->peer.dest = source;
  add(request, std::move(entry));
}

void Messages::remember(MPI_Message message, Ticket ticket) {
  const runtime::MutexLock lock(mutex_);
  matched_[message] = ticket;
}

std::optional<Messages::Ticket> Messages::take(MPI_Message message) {
  const runtime::MutexLock lock(mutex_);
  const auto found = matched_.extract(message);
  return found.empty() ? std::nullopt : std::optional(found.mapped());
}

void Messages::remember_persistent_send(MPI_Request request, const SendBuffer& buffer,
                                        const Sending& peer) {
  auto entry = std::make_shared<Request>();
  entry->is_send = true;
  entry->send = buffer;
  entry->peer = peer;
  add(request, std::move(entry));
}

void Messages::remember_persistent_receive(MPI_Request request, const ReceiveBuffer& buffer,
                                           const Sending& peer) {
  auto entry = std::make_shared<Request>();
  entry->receive = buffer;
  entry->peer = peer;
  add(request, std::move(entry));
}

std::optional<Messages::Ticket> Messages::start(MPI_Request request) {
  runtime::MutexLock lock(mutex_);
  const auto entry = requests_.find(request);
  lock.unlock();
  if (!entry) return std::nullopt;
  if (entry->is_send) {
    send(entry->send, entry->peer);
    return std::nullopt;
  }
  const auto ticket = post(entry->peer.comm, entry->peer.dest, entry->peer.tag);
  lock.lock();
  entry->ticket = ticket;
  return ticket;
}

Messages::Claim Messages::claim(MPI_Request request) {
  const runtime::MutexLock lock(mutex_);
  return requests_.claim(request);
}

void Messages::give_back(const Claim& claim, MPI_Request after) {
  if (!claim) return;
  const runtime::MutexLock lock(mutex_);
  requests_.settle(claim, after);
}

void Messages::note_taken(const Claim& claim,
                          const std::function<std::optional<HeldBack>()>& held_back,
                          const MPI_Status& status) {
  if (!claim) return;
  runtime::MutexLock lock(mutex_);
  const auto ticket = claim.entry->ticket;
  const bool is_wild = ticket && wild_.contains(*ticket);
  lock.unlock();
  if (!is_wild) return;
  int is_cancelled = 0;
  PMPI_Test_cancelled(&status, &is_cancelled);
  std::optional<Decided::From> taken = Decided::From{};
  if (const auto it = held_back())
    taken = it->taken;
  else if (is_cancelled == 0)
    taken = {status.MPI_SOURCE, status.MPI_TAG};
  lock.lock();
  if (taken) resolve(*ticket, *taken);
}

void Messages::complete(const Claim& claim, MPI_Request after, MPI_Status& status) {
  if (!claim) return;
  runtime::MutexLock lock(mutex_);
  const std::optional<Ticket> ticket = std::exchange(claim.entry->ticket, std::nullopt);
  requests_.settle(claim, after);
  lock.unlock();
  if (ticket && !maybe_withdraw(*ticket, status)) complete(*ticket, claim.entry->receive, status);
}

bool Messages::is_receiving(MPI_Request request) {
  const runtime::MutexLock lock(mutex_);
  const auto entry = requests_.find(request);
  return entry && entry->ticket;
}

void Messages::forget(MPI_Request request) {
  std::shared_ptr<Request> over;
  const runtime::MutexLock lock(mutex_);
  over = requests_.extract(request);
}

// --- going back
// ------------------------------------------------------------------------------------

bool Messages::is_idle() {
  const runtime::MutexLock lock(mutex_);
  return received_.is_idle() && matched_.empty() && named_.empty() && arrived_.empty() &&
         !requests_.has_any([](const Request& entry) { return entry.ticket.has_value(); });
}

Messages::Counts Messages::counts() {
  const runtime::MutexLock lock(mutex_);
  return {sent_, received_.counts(), truncated_};
}

void Messages::set_counts(const Counts& counts) {
  const runtime::MutexLock lock(mutex_);
  sent_ = counts.sent;
  truncated_ = counts.truncated;
  received_.set_counts(counts.received);
}

}  // namespace resprout::shim
