#include "mpi/policies/replicas/receives.hpp"
#include "mpi/handles/handle_number.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "core/invariant.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/datatypes/type_recipe.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/policies/replicas/gaps.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/process/patience.hpp"

namespace resprout::shim {
namespace {

static_assert(runtime::ReceiveOrder::any != runtime::ReceiveOrder::nobody);

runtime::ReceiveOrder::Pattern pattern_of(MPI_Comm comm, int source, int tag) {
  using Order = runtime::ReceiveOrder;
  return {number_of(comm), source == MPI_ANY_SOURCE ? Order::any : source,
          tag == MPI_ANY_TAG ? Order::any : tag};
}

int tag_in_mpi(std::int32_t tag) { return tag == runtime::ReceiveOrder::any ? MPI_ANY_TAG : tag; }
int source_in_mpi(std::int32_t source) {
  return source == runtime::ReceiveOrder::any ? MPI_ANY_SOURCE : source;
}

bool is_cancelled(const MPI_Status& status) {
  int flag = 0;
  PMPI_Test_cancelled(&status, &flag);
  return flag != 0;
}

MPI_Status status_of_cancelled() {
  MPI_Status status{};
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  PMPI_Status_set_elements(&status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(&status, 1);
  return status;
}

int start_in_mpi(const Receives::Call& call, int source, int tag, MPI_Request* request) {
  const Address from = address_of(call.comm, source);
  return PMPI_Irecv(call.buffer, call.count, call.datatype, from.peer, tag, from.comm, request);
}

int init_in_mpi(const Receives::Call& call, MPI_Request* request) {
  const Address from = address_of(call.comm, call.source);
  return PMPI_Recv_init(call.buffer, call.count, call.datatype, from.peer, call.tag, from.comm,
                        request);
}

// MPI says what is wrong with the others.
bool is_for_us(const Receives::Call& call) {
  const bool is_valid = call.count >= 0 && call.datatype != MPI_DATATYPE_NULL &&
                        (call.tag >= 0 || call.tag == MPI_ANY_TAG) && call.comm != MPI_COMM_NULL;
  return is_valid && (call.source >= 0 || call.source == MPI_ANY_SOURCE);
}

}  // namespace

// MPI's progress, which `advance` itself makes, comes back to it and must find nothing half done.
class Receives::Hold {
 public:
  explicit Hold(Receives& receives) : receives_(receives) {
    while (receives_.is_held_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Hold() { receives_.is_held_.store(false, std::memory_order_release); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Receives& receives_;
};

Receives::Receives(Decided& by, Messages* stood_in_for) : by_(by), stood_in_for_(stood_in_for) {
  PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own_);
  int* tag_max = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(own_, MPI_TAG_UB, &tag_max, &is_set);
  tag_max_ = is_set != 0 ? *tag_max : 32767;
}

Receives::~Receives() {
  open_.clear();
  entries_.clear();
  PMPI_Comm_free(&own_);
}

// --- the program
// ----------------------------------------------------------------------------------

int Receives::start(const Call& call, MPI_Request* request) {
  const Hold hold(*this);
  advance_held();
  if (!is_for_us(call) || !needs_entry(call))
    return start_in_mpi(call, call.source, call.tag, request);
  const int tag = next_tag();
  const int code = PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, own_, request);
  if (code != MPI_SUCCESS) return code;
  activate(add(call, *request, tag));
  return MPI_SUCCESS;
}

// Of those with a source, too: some start of it may have to wait.
int Receives::init(const Call& call, MPI_Request* request) {
  const Hold hold(*this);
  const bool is_ours = is_for_us(call);
  const bool is_own = call.source != MPI_ANY_SOURCE;
  const int tag = is_own ? 0 : next_tag();
  const int code = !is_ours || is_own ? init_in_mpi(call, request)
                                      : PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, own_, request);
  if (code == MPI_SUCCESS && is_ours) add(call, *request, tag)->is_own = is_own;
  return code;
}

bool Receives::needs_entry(const Call& call) const {
  return order_.needs_entry(pattern_of(call.comm, call.source, call.tag)) ||
         is_of_lost(call, call.source);
}

int Receives::start_again(MPI_Request request, std::optional<std::uint64_t> message) {
  const Hold hold(*this);
  const EntryPtr entry = entries_.find(request);
  advance_held();
  entry->call.message = message;
  const bool is_lent = entry->is_own && needs_entry(entry->call);
  if (entry->is_own && !is_lent) return PMPI_Start(&request);
  int code = is_lent ? lend(*entry) : MPI_SUCCESS;
  if (code == MPI_SUCCESS) code = PMPI_Start(is_lent ? &entry->stand_in : &request);
  if (code != MPI_SUCCESS) return code;
  if (is_lent) ++lent_;
  activate(entry);
  return code;
}

int Receives::start_in_place_of(MPI_Request send) {
  const Hold hold(*this);
  EntryPtr entry = entries_.find(send);
  if (!entry) {
    entry = std::make_shared<Entry>();
    entry->is_own = true;
    PMPI_Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, own_, &entry->stand_in);
    entries_.put(send, entry);
  }
  entry->is_active = true;
  ++lent_;
  return PMPI_Start(&entry->stand_in);
}

int Receives::start_received(const MPI_Status& status, MPI_Request* request, const Call& call) {
  const Hold hold(*this);
  const int tag = next_tag();
  const int code = PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, own_, request);
  if (code != MPI_SUCCESS) return code;
  const EntryPtr entry = add(call, *request, tag);
  entry->is_active = true;
  entry->is_done = true;
  entry->is_recalled = call.message.has_value();
  entry->status = status;
  return PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag, own_);
}

MPI_Message Receives::stand_in_message() {
  const Hold hold(*this);
  const int tag = next_tag();
  MPI_Message message = MPI_MESSAGE_NULL;
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag, own_);
  PMPI_Mprobe(0, tag, own_, &message, MPI_STATUS_IGNORE);
  return message;
}

// A stand-in, which it keeps.
int Receives::lend(Entry& entry) {
  if (entry.stand_in != MPI_REQUEST_NULL) return MPI_SUCCESS;
  entry.stand_in_tag = next_tag();
  return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, entry.stand_in_tag, own_, &entry.stand_in);
}

int Receives::next_tag() { return last_tag_ = last_tag_ == tag_max_ ? 1 : last_tag_ + 1; }

Receives::EntryPtr Receives::add(const Call& call, MPI_Request request, int tag) {
  const auto entry = std::make_shared<Entry>();
  entry->call = call;
  entry->stand_in_tag = tag;
  if (combiner_of(call.datatype) != MPI_COMBINER_NAMED) {
    PMPI_Type_dup(call.datatype, &entry->call.datatype);
    entry->owns_datatype = true;
  }
  entries_.put(request, entry);
  return entry;
}

Receives::Entry::~Entry() {
  if (stand_in != MPI_REQUEST_NULL) PMPI_Request_free(&stand_in);
  if (owns_datatype) PMPI_Type_free(&call.datatype);
}

void Receives::activate(const EntryPtr& entry) {
  if (entry->call.source == MPI_ANY_SOURCE) ++wildcards_started_;
  entry->is_active = true;
  entry->is_done = false;
  entry->is_recalled = false;
  entry->is_cancel_due = false;
  entry->ticket = order_.start(pattern_of(entry->call.comm, entry->call.source, entry->call.tag));
  open_.push_back(entry);
  open_count_.store(open_.size());
  advance_held();
}

bool Receives::has(MPI_Request request) {
  const Hold hold(*this);
  return entries_.find(request) != nullptr;
}

MPI_Request Receives::stand_in_of(MPI_Request request) {
  const Hold hold(*this);
  const EntryPtr entry = entries_.find_lasting(request);
  return entry && entry->is_own && entry->is_active ? entry->stand_in : request;
}

bool Receives::is_active(MPI_Request request) {
  const Hold hold(*this);
  const EntryPtr entry = entries_.find(request);
  return entry && entry->is_active;
}

bool Receives::maybe_cancel(MPI_Request request) {
  const Hold hold(*this);
  const EntryPtr entry = entries_.find(request);
  if (!entry || entry->call.source != MPI_ANY_SOURCE) return false;
  entry->is_cancel_due = entry->is_active;
  advance_held();
  return true;
}

Receives::Claim Receives::claim(MPI_Request request) {
  const Hold hold(*this);
  return entries_.claim(request);
}

void Receives::give_back(const Claim& claim, MPI_Request after) {
  if (!claim) return;
  const Hold hold(*this);
  entries_.settle(claim, after);
  if (after == MPI_REQUEST_NULL) drop(claim.entry);
}

int Receives::complete(const Claim& claim, MPI_Request after, MPI_Status& status) {
  if (!claim) return MPI_SUCCESS;
  const Hold hold(*this);
  entries_.settle(claim, after);
  Entry& entry = *claim.entry;
  if (!entry.is_active) return MPI_SUCCESS;
  entry.is_active = false;
  if (entry.is_own) {
    --lent_;
    note_completion(shim::recall(claim.request), claim.request, after);
  }
  if (entry.ticket != 0) order_.end(entry.ticket);
  copy_status(entry.status, &status);
  return entry.code;
}

// Not while it holds: others may need it meanwhile.
void Receives::wait_for_recalled(MPI_Request request, MPI_Status* status) {
  EntryPtr entry;
  {
    const Hold hold(*this);
    entry = entries_.find(request);
  }
  if (!entry || !entry->is_active || !entry->is_recalled) return;
  const Call& call = entry->call;
  stood_in_for_->look_at(*call.message, {"recv", call.buffer, call.count, call.datatype},
                         entry->status);
  copy_status(entry->status, status);
}

bool Receives::describe(MPI_Request request, MPI_Status* status) {
  const Hold hold(*this);
  const EntryPtr entry = entries_.find(request);
  if (!entry || !entry->is_active) return false;
  copy_status(entry->status, status);
  return true;
}

std::optional<Decided::From> Receives::taken_by(MPI_Request request) {
  const Hold hold(*this);
  const EntryPtr entry = entries_.find(request);
  return entry ? taken_by(*entry) : std::nullopt;
}

std::optional<Decided::From> Receives::taken_by(const Claim& claim) {
  const Hold hold(*this);
  return taken_by(*claim.entry);
}

std::optional<Decided::From> Receives::taken_by(const Entry& entry) const {
  if (!entry.is_active) return std::nullopt;
  if (entry.is_done) {
    if (is_cancelled(entry.status)) return Decided::From{};
    return Decided::From{entry.status.MPI_SOURCE, entry.status.MPI_TAG};
  }
  const Order::Pattern& pattern = order_.pattern_of(entry.ticket);
  if (pattern.source == Order::any || pattern.tag == Order::any) return std::nullopt;
  return Decided::From{pattern.source, pattern.tag};
}

void Receives::forget(MPI_Request request) {
  const Hold hold(*this);
  if (const EntryPtr entry = entries_.extract(request)) drop(entry);
}

void Receives::drop(const EntryPtr& entry) {
  if (entry->is_active && entry->ticket != 0) order_.end(entry->ticket);
  if (entry->is_active && entry->is_own) --lent_;
  entry->is_active = false;
  const auto at = std::find(open_.begin(), open_.end(), entry);
  if (at == open_.end()) return;
  open_.erase(at);
  open_count_.store(open_.size());
  if (entry->native == MPI_REQUEST_NULL) return;
  PMPI_Cancel(&entry->native);
  PMPI_Request_free(&entry->native);
}

// --- what may take a message
// ----------------------------------------------------------------------

bool Receives::is_clear(MPI_Comm comm, int source, int tag) {
  const Hold hold(*this);
  advance_held();
  return order_.is_clear(pattern_of(comm, source, tag));
}

// While it looks nothing is given to MPI: neither by MPI's progress nor by a second look of ours
// may a receive take the message that was found before it is asked whether one may.
std::optional<Decided::From> Receives::look_for_message(MPI_Comm comm, int source, int tag) {
  const Hold hold(*this);
  advance_held();
  const auto found = find_message(comm, source, tag);
  if (!found || !order_.is_clear(pattern_of(comm, found->source, found->tag))) return std::nullopt;
  return found;
}

void Receives::wait_until_clear(MPI_Comm comm, int source, int tag) {
  Patience patience;
  while (!is_clear(comm, source, tag)) {
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    patience.pause();
  }
}

bool Receives::is_needed(MPI_Comm comm) {
  const Hold hold(*this);
  return entries_.has_any(
      [&](const Entry& entry) { return entry.call.comm == comm && entry.is_active; });
}

bool Receives::is_idle() {
  const Hold hold(*this);
  return !entries_.has_any([](const Entry& entry) { return entry.is_active; });
}

std::uint64_t Receives::wildcards_started() {
  const Hold hold(*this);
  return wildcards_started_;
}

// --- what goes on
// ---------------------------------------------------------------------------------

void Receives::advance() {
  if (open_count_.load(std::memory_order_relaxed) == 0 && !by_.has_news()) return;
  if (is_held_.exchange(true, std::memory_order_acquire)) return;
  advance_held();
  is_held_.store(false, std::memory_order_release);
}

void Receives::advance_held() {
  take_news();
  if (open_.empty()) return;
  const QuietLosses quiet;
  cancel_where_due();
  find_out();
  give();
  collect();
  recall();
  show();
}

void Receives::take_news() {
  if (!by_.has_news()) return;
  const Decided::Matches news = by_.take_matches();
  for (const Decided::Match& match : news.all) order_.decide(match);
  decides_ = decides_ || news.decides;
}

// What it finds MPI may give to nobody else.
bool Receives::maybe_find(Entry& entry) {
  const auto [communicator, source, tag] = order_.pattern_of(entry.ticket);
  const auto found = find_message(entry.call.comm, source_in_mpi(source), tag_in_mpi(tag));
  if (!found) return false;
  if (!order_.is_clear_before(entry.ticket, {communicator, found->source, found->tag}))
    return false;
  say(*order_.match_of(entry.ticket, found->source, found->tag));
  tell_messages(entry);
  give();
  return true;
}

void Receives::give() {
  while (const auto ticket = order_.next_to_give(decides_ && stood_in_for_ == nullptr)) {
    const auto at = std::find_if(open_.begin(), open_.end(),
                                 [&](const EntryPtr& it) { return it->ticket == *ticket; });
    Entry& entry = **at;
    const Order::Pattern& pattern = order_.pattern_of(*ticket);
    const Call& call = entry.call;
    entry.is_recalled = is_of_lost(call, pattern.source);
    if (entry.is_recalled) continue;
    entry.code =
        start_in_mpi(call, source_in_mpi(pattern.source), tag_in_mpi(pattern.tag), &entry.native);
    if (entry.code == MPI_SUCCESS) continue;
    entry.native = MPI_REQUEST_NULL;
    withdraw(entry);
  }
}

// What MPI has completed. What a wildcard has taken is said before anything else is done with it.
void Receives::collect() {
  std::vector<Entry*> given;
  std::vector<MPI_Request> natives;
  for (const EntryPtr& entry : open_) {
    if (entry->native == MPI_REQUEST_NULL) continue;
    given.push_back(entry.get());
    natives.push_back(entry->native);
  }
  if (natives.empty()) return;
  const int count = static_cast<int>(natives.size());
  std::vector<int> indices(natives.size());
  std::vector<MPI_Status> statuses(natives.size());
  int done = 0;
  const int code = PMPI_Testsome(count, natives.data(), &done, indices.data(), statuses.data());
  for (int k = 0; k < done; ++k) {
    const auto at = static_cast<std::size_t>(k);
    Entry& entry = *given[static_cast<std::size_t>(indices[at])];
    entry.native = MPI_REQUEST_NULL;
    const int error = code != MPI_SUCCESS ? statuses[at].MPI_ERROR : MPI_SUCCESS;
    name_source(entry.call.comm, &statuses[at]);
    entry.is_recalled = is_loss(error) && stood_in_for_ != nullptr && entry.call.message;
    if (!entry.is_recalled) note_received(entry, statuses[at], error);
  }
}

void Receives::note_received(Entry& entry, const MPI_Status& status, int code) {
  if (is_cancelled(status)) return withdraw(entry);
  entry.is_done = true;
  entry.status = status;
  entry.code = code;
  if (const auto match = order_.match_of(entry.ticket, status.MPI_SOURCE, status.MPI_TAG))
    say(*match);
}

// It takes nothing.
void Receives::withdraw(Entry& entry) {
  entry.is_done = true;
  entry.status = status_of_cancelled();
  if (const auto match = order_.match_of(entry.ticket, Order::nobody, 0)) say(*match);
}

void Receives::say(const Decided::Match& match) {
  order_.decide(match);
  by_.announce(match);
}

// Who decides asks MPI, which says at once whether the receive had a message already; what it has
// not given to MPI yet has none. The others hear what came of it.
void Receives::cancel_where_due() {
  for (const EntryPtr& entry : open_) {
    if (entry->is_done) continue;
    if (order_.is_cancelled(entry->ticket)) withdraw(*entry);
    if (!decides_ || !entry->is_cancel_due || order_.is_decided(entry->ticket)) continue;
    entry->is_cancel_due = false;
    if (entry->native == MPI_REQUEST_NULL) {
      withdraw(*entry);
      continue;
    }
    PMPI_Cancel(&entry->native);
    int is_over = 0;
    MPI_Status status;
    const int code = PMPI_Test(&entry->native, &is_over, &status);
    if (is_over != 0) note_received(*entry, status, code);
  }
}

// The program may see what is complete as soon as it is decided what those before it take.
void Receives::show() {
  std::erase_if(open_, [&](const EntryPtr& entry) {
    if (!entry->is_done || !order_.may_complete(entry->ticket)) return false;
    PMPI_Send(nullptr, 0, MPI_BYTE, 0, entry->stand_in_tag, own_);
    return true;
  });
  open_count_.store(open_.size());
}

// Others may need to hear what has come here, and this process to hear it from them: its plane may
// have messages on their way to what it holds back. Who decides leaves nothing open, and the others
// wait until it has left.
void Receives::close(const std::function<void()>& meanwhile) {
  Patience patience;
  for (;;) {
    const bool has_leader_ended = by_.has_leader_ended();
    {
      const Hold hold(*this);
      for (const EntryPtr& entry : open_) entry->is_cancel_due = true;
      advance_held();
      const bool is_any_undecided =
          std::any_of(open_.begin(), open_.end(),
                      [&](const EntryPtr& entry) { return !order_.is_decided(entry->ticket); });
      if (!is_any_undecided || (has_leader_ended && !decides_)) return;
    }
    meanwhile();
    patience.pause();
  }
}

void Receives::restart() {
  const Hold hold(*this);
  RESPROUT_INVARIANT(open_.empty());
  order_ = {};
  decides_ = false;
}

// --- in the place of the program's requests
// -----------------------------------------------------------

AskedRequests::AskedRequests(int count, MPI_Request* requests) : requests_(requests) {
  Receives* by = receives();
  if (by == nullptr || !by->has_stand_ins()) return;
  for (int i = 0; i < count; ++i) {
    const MPI_Request stand_in = by->stand_in_of(requests[i]);
    if (stand_in == requests[i]) continue;
    replaced_.emplace_back(i, requests[i]);
    requests[i] = stand_in;
  }
}

AskedRequests::~AskedRequests() {
  for (const auto& [i, request] : replaced_) requests_[i] = request;
}

// --- for everybody
// --------------------------------------------------------------------------------

int start_receive(const Receives::Call& call, MPI_Request* request) {
  if (Receives* by = receives()) return by->start(call, request);
  return start_in_mpi(call, call.source, call.tag, request);
}

int init_receive(const Receives::Call& call, MPI_Request* request) {
  if (Receives* by = receives()) return by->init(call, request);
  return init_in_mpi(call, request);
}

int start_receive_again(MPI_Request& request, std::optional<std::uint64_t> message) {
  Receives* by = receives();
  if (by == nullptr || !by->has(request)) return PMPI_Start(&request);
  return by->start_again(request, message);
}

void wait_until_clear(MPI_Comm comm, int source, int tag) {
  if (Receives* by = receives()) by->wait_until_clear(comm, source, tag);
}

}  // namespace resprout::shim
