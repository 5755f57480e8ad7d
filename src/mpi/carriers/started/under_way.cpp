#include "mpi/carriers/started/under_way.hpp"

#include <algorithm>
#include <atomic>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/invariant.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/carriers/started/own_session.hpp"
#include "mpi/carriers/started/small_collective.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/departures.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/operators/bearers.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/compared_requests.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/inside_mpi.hpp"
#include "mpi/process/meanwhile.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct Entry {
  // Of a persistent request that is not started: one that it could start.
  std::shared_ptr<Collective> collective;
  int ticket = 0;
  bool is_started = true;
  bool is_name = false;  // its request is one of those that are used again
  // MPI knows nothing of it yet: where it is started, its request is not.
  bool is_apart = false;
  bool has_ended = false;  // apart
  // Of a persistent one:
  MakeCollective make;
  std::shared_ptr<OwnSession> own;
};

// Never destroyed: the program's exit handlers may still complete requests.
struct Table {
  runtime::Mutex mutex;
  // Of this process alone; its tags are the tickets.
  MPI_Comm own RESPROUT_GUARDED_BY(mutex) = MPI_COMM_NULL;
  int last_ticket RESPROUT_GUARDED_BY(mutex) = 0;
  int ticket_max RESPROUT_GUARDED_BY(mutex) = 0;
  std::unordered_map<MPI_Request, Entry> entries RESPROUT_GUARDED_BY(mutex);
  // Tickets of those that are over, and whose requests are not.
  std::vector<int> ended RESPROUT_GUARDED_BY(mutex);
  // Requests that mean nothing now, with tickets.
  std::vector<std::pair<MPI_Request, int>> names RESPROUT_GUARDED_BY(mutex);
  // Freed by the program, but still needed.
  std::vector<MPI_Datatype> doomed_datatypes RESPROUT_GUARDED_BY(mutex);
  std::vector<MPI_Op> doomed_ops RESPROUT_GUARDED_BY(mutex);
  std::atomic<int> entry_count{0};
  std::atomic<int> under_way{0};
  std::atomic<int> apart_count{0};  // of those that are started
  std::atomic<bool> has_ended{false};
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

using Guard = runtime::MutexLock<runtime::Mutex>;

// Replicas need MPI's word.
bool may_be_apart() {
  return !are_requests_compared() && decided.load(std::memory_order_acquire) == nullptr;
}

// The name of a request.
int new_ticket() RESPROUT_REQUIRES(table().mutex) {
  table().last_ticket = table().last_ticket == table().ticket_max ? 1 : table().last_ticket + 1;
  return table().last_ticket;
}

template <typename Handle>
bool is_used(Handle handle) RESPROUT_REQUIRES(table().mutex) {
  const auto& entries = table().entries;
  return std::any_of(entries.begin(), entries.end(),
                     [&](const auto& pair) { return pair.second.collective->uses(handle); });
}

// What the program freed while a collective needed it goes as soon as none does.
void free_doomed() RESPROUT_REQUIRES(table().mutex) {
  std::erase_if(table().doomed_datatypes,
                [](MPI_Datatype datatype) RESPROUT_REQUIRES(table().mutex) {
                  if (is_used(datatype)) return false;
                  note_freed(datatype);
                  return PMPI_Type_free(&datatype) == MPI_SUCCESS;
                });
  std::erase_if(table().doomed_ops, [](MPI_Op op) RESPROUT_REQUIRES(table().mutex) {
    if (is_used(op)) return false;
    note_freed(op);
    return PMPI_Op_free(&op) == MPI_SUCCESS;
  });
}

// Its request is complete, and perhaps another collective's already.
void forget_ended(MPI_Request& request, int ticket) RESPROUT_REQUIRES(table().mutex) {
  const auto found = table().entries.find(request);
  if (found == table().entries.end() || found->second.ticket != ticket) return;
  found->second.is_started = false;
  found->second.has_ended = false;
  if (found->second.make) return;
  const bool is_name = found->second.is_name;
  table().entries.erase(found);
  table().entry_count.store(static_cast<int>(table().entries.size()));
  if (!is_name) return;
  table().names.emplace_back(request, ticket);
  request = MPI_REQUEST_NULL;
}

// From here on MPI says whether it is complete.
void hand_to_mpi(MPI_Request request, Entry& entry) RESPROUT_REQUIRES(table().mutex) {
  if (!entry.is_started || !entry.is_apart) return;
  entry.is_apart = false;
  table().apart_count.fetch_sub(1);
  PMPI_Start(&request);
  if (!entry.has_ended) return;
  table().ended.push_back(entry.ticket);
  table().has_ended.store(true, std::memory_order_release);
}

// Completes the requests of what is over.
void complete_ended() {
  if (!table().has_ended.load(std::memory_order_acquire)) return;
  std::vector<int> ended;
  MPI_Comm own = MPI_COMM_NULL;
  {
    const Guard guard(table().mutex);
    own = table().own;
    ended.swap(table().ended);
    table().has_ended.store(false, std::memory_order_relaxed);
  }
  for (const int ticket : ended) PMPI_Send(nullptr, 0, MPI_BYTE, 0, ticket, own);
  table().under_way.fetch_sub(static_cast<int>(ended.size()));
}

// Under the engine's lock.
std::shared_ptr<Collective> made(const MakeCollective& make, MPI_Comm comm, runtime::Lock& lock) {
  if (leaves_collectives_to_library(World::current()->options())) return nullptr;
  runtime::Session* session = session_of(comm, lock);
  return session != nullptr ? make(comm, *communicator_of(comm)) : nullptr;
}

// A request that MPI takes for one that is not started. False: MPI gives none.
bool take_name(MPI_Request& request, int& ticket) RESPROUT_REQUIRES(table().mutex) {
  if (table().names.empty()) {
    ticket = new_ticket();
    return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, ticket, table().own, &request) == MPI_SUCCESS;
  }
  std::tie(request, ticket) = table().names.back();
  table().names.pop_back();
  return true;
}

// A request for the collective, which will have the ticket that is returned; 0: MPI gives none.
int add_request(Entry entry, MPI_Request* request) {
  const Guard guard(table().mutex);
  int code = MPI_SUCCESS;
  entry.is_name = !entry.make && entry.is_apart;
  if (entry.is_name) {
    if (!take_name(*request, entry.ticket)) return 0;
  } else {
    entry.ticket = new_ticket();
    code = entry.make ? PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, entry.ticket, table().own, request)
                      : PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, entry.ticket, table().own, request);
  }
  if (code != MPI_SUCCESS) return 0;
  forget(*request);
  const int ticket = entry.ticket;
  if (entry.is_started && entry.is_apart) table().apart_count.fetch_add(1);
  table().entries.insert_or_assign(*request, std::move(entry));
  table().entry_count.store(static_cast<int>(table().entries.size()));
  return ticket;
}

// Of the persistent requests of the communicator.
std::vector<std::shared_ptr<OwnSession>> own_sessions_of(MPI_Comm comm) {
  std::vector<std::shared_ptr<OwnSession>> all;
  const Guard guard(table().mutex);
  for (const auto& [request, entry] : table().entries)
    if (entry.own && entry.collective->call().comm == comm) all.push_back(entry.own);
  return all;
}

// Under the engine's lock: it will not be started again.
void leave_own_session(MPI_Request request, runtime::Lock& lock) {
  std::shared_ptr<OwnSession> own;
  MPI_Comm comm = MPI_COMM_NULL;
  {
    const Guard guard(table().mutex);
    Entry& entry = table().entries.at(request);
    own = std::exchange(entry.own, nullptr);
    comm = entry.collective->call().comm;
  }
  if (!own) return;
  Communicator& communicator = *communicator_of(comm);
  if (communicator.missing_values) communicator.missing_values->last.erase(own->session().id());
  if (communicator.last == &own->session() && communicator.session != nullptr) {
    communicator.session->contributors() = own->session().contributors();
    communicator.last = communicator.session;
  }
  own->close(lock);
}

// Under the engine's lock. Nobody asks for a request that was freed.
void note_end(const Collective::Call& call) {
  const Guard guard(table().mutex);
  const auto found = table().entries.find(call.request);
  const bool is_asked = found != table().entries.end() && found->second.ticket == call.ticket;
  if (is_asked && found->second.is_apart) {
    found->second.has_ended = true;
    return;
  }
  table().ended.push_back(call.ticket);
  table().has_ended.store(true, std::memory_order_release);
}

// Under the engine's lock. What is asked about the last call on a communicator is not asked about
// those that go on there.
void note_later_call(const Collective& later, MPI_Comm comm) {
  const Guard guard(table().mutex);
  for (const auto& [request, entry] : table().entries) {
    const bool is_earlier = entry.collective.get() != &later && entry.is_started;
    if (!is_earlier || entry.collective->call().comm != comm) continue;
    if (auto* small = dynamic_cast<SmallCollective*>(entry.collective.get()))
      small->note_later_call();
  }
}

// Under the engine's lock.
void launch(const std::shared_ptr<Collective>& collective, Collective::Call call) {
  if (call.number == 0) call.number = communicator_of(call.comm)->calls.next(call.name);
  call.note_end = note_end;
  collective->set_call(call);
  if (table().entry_count.load(std::memory_order_relaxed) > 1)
    note_later_call(*collective, call.comm);
  table().under_way.fetch_add(1);
  collective->session().enqueue(collective);
}

// Of one start of a persistent request, under the engine's lock: it was over at once.
bool is_over_at_start(Collective& collective, Collective::Call& call) {
  auto* small = dynamic_cast<SmallCollective*>(&collective);
  if (small == nullptr) return false;
  call.number = communicator_of(call.comm)->calls.next(call.name);
  small->set_call(call);
  if (!small->is_over_at_start()) return false;
  table().under_way.fetch_add(1);
  return true;
}

// The collective of a request of which MPI knows nothing; null: it is none.
std::shared_ptr<Collective> apart(MPI_Request request) {
  if (table().apart_count.load(std::memory_order_relaxed) == 0) return nullptr;
  const Guard guard(table().mutex);
  const auto found = table().entries.find(request);
  const bool is_apart =
      found != table().entries.end() && found->second.is_started && found->second.is_apart;
  return is_apart ? found->second.collective : nullptr;
}

// It is over, and all is well.
void complete_apart(MPI_Request& request, const Collective& collective) {
  const Guard guard(table().mutex);
  table().apart_count.fetch_sub(1);
  table().under_way.fetch_sub(1);
  forget_ended(request, collective.call().ticket);
  free_doomed();
}

// The common part of starting and of preparing to start.
int begin(MPI_Comm comm, const char* name, MPI_Request* request, const MakeCollective& make,
          bool is_persistent, const std::function<int()>& native,
          const std::shared_ptr<SubstitutedCollective>& substituted = nullptr) {
  World* world = World::current();
  if (world == nullptr || comm == MPI_COMM_NULL || request == nullptr) return native();
  entering(name);
  world->report().count_call(name);
  runtime::Lock lock = world->engine().lock();
  const std::shared_ptr<Collective> collective = made(make, comm, lock);
  if (!collective) {
    lock.unlock();
    return native();
  }
  collective->set_call({comm, name});
  Entry entry;
  entry.collective = collective;
  entry.is_started = !is_persistent;
  entry.is_apart = !is_persistent && may_be_apart();
  if (is_persistent) {
    finish_departures(world->engine(), lock);
    entry.make = make;
    Communicator& communicator = *communicator_of(comm);
    entry.own = std::make_shared<OwnSession>(lock, communicator, ++communicator.made.persistent);
  }
  const int ticket = add_request(std::move(entry), request);
  if (ticket == 0) {
    lock.unlock();
    return finish(comm, name, MPI_ERR_NO_MEM);
  }
  if (is_persistent) return MPI_SUCCESS;
  communicator_of(comm)->last = &collective->session();
  launch(collective, {comm, name, 0, ticket, *request, substituted});
  lock.unlock();
  complete_ended();
  return MPI_SUCCESS;
}

}  // namespace

Communicator* small_at_head(MPI_Comm comm, const MPI_Request* request) {
  return request != nullptr && may_be_apart() ? at_head(World::current(), comm) : nullptr;
}

// One of Open MPI's own that has nothing to wait for is as quick.
bool maybe_start_small(MPI_Comm comm, const char* name, MPI_Request* request,
                       Communicator& communicator,
                       const std::shared_ptr<SmallCollective>& collective) {
  if (!collective->is_carried()) return false;
  World& world = *World::current();
  count(world, communicator, name);
  const InsideCall inside({name, comm, CurrentCall::Needs::members});
  Collective::Call call{comm, name, communicator.calls.current(name)};
  collective->set_call(call);
  if (collective->is_over_at_head())
    return PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request) ==
           MPI_SUCCESS;
  Entry entry;
  entry.collective = collective;
  entry.is_apart = true;
  call.ticket = add_request(std::move(entry), request);
  RESPROUT_INVARIANT(call.ticket != 0);
  call.request = *request;
  const runtime::Lock lock = world.engine().lock();
  launch(collective, call);
  return true;
}

int start_collective(MPI_Comm comm, const char* name, MPI_Request* request, const Startable& start,
                     const std::function<int()>& native) {
  ComparedStart compared(comm, name, start.describe);
  const int code = begin(comm, name, request, start.make, false, native, compared.substituted());
  if (code == MPI_SUCCESS) compared.go_on_as(*request);
  return code;
}

int init_collective(MPI_Comm comm, const char* name, MPI_Request* request, const Startable& start,
                    const std::function<int()>& native) {
  const int code = begin(comm, name, request, start.make, true, native);
  if (code == MPI_SUCCESS) remember_compared(*request, comm, name, start.describe);
  return code;
}

bool is_any_under_way() { return table().under_way.load(std::memory_order_relaxed) > 0; }

void drive() {
  World* world = World::current();
  if (!is_any_under_way() || world == nullptr) return;
  {
    runtime::Lock lock = world->engine().lock();
    world->engine().drive(lock);
  }
  complete_ended();
}

void drive_from_inside() {
  World* world = World::current();
  if (InsideMpi::is_any() && is_any_under_way() && world != nullptr) world->engine().maybe_drive();
}

Watch::Watch(int count, MPI_Request* requests, Then with_sends)
    : send_halves_(count, requests, with_sends), broken_sends_(count, requests) {
  if (table().entry_count.load(std::memory_order_relaxed) == 0) return;
  hand_all_to_mpi(count, requests);
  drive();
  collectives_.resize(static_cast<std::size_t>(std::max(count, 0)));
  const Guard guard(table().mutex);
  for (int i = 0; i < count; ++i) {
    const auto found = table().entries.find(requests[i]);
    if (found == table().entries.end() || !found->second.is_started) continue;
    collectives_[static_cast<std::size_t>(i)] = {&requests[i], requests[i], found->second.ticket,
                                                 found->second.collective};
  }
}

void hand_all_to_mpi(int count, const MPI_Request* requests) {
  if (table().apart_count.load(std::memory_order_relaxed) == 0) return;
  const Guard guard(table().mutex);
  for (int i = 0; i < count; ++i) {
    const auto found = table().entries.find(requests[i]);
    if (found != table().entries.end()) hand_to_mpi(requests[i], found->second);
  }
}

bool maybe_wait_apart(MPI_Request& request) {
  const std::shared_ptr<Collective> collective = apart(request);
  if (!collective) return false;
  World& world = *World::current();
  runtime::Engine& engine = world.engine();
  runtime::Lock lock = engine.lock();
  Looks looks(world);
  const auto is_to_look = [&] {
    if (!collective->is_over()) engine.advance_tasks();
    return !collective->is_over() && collective->looks_at_shared_slots();
  };
  while (is_to_look()) {
    lock.unlock();
    const bool goes_on = looks.go_on();
    lock.lock();
    if (!goes_on) break;
  }
  engine.wait_until(lock, [&] { return collective->is_over(); });
  lock.unlock();
  complete_ended();
  if (collective->result() != MPI_SUCCESS) return false;
  complete_apart(request, *collective);
  return true;
}

bool maybe_test_apart(MPI_Request& request) {
  const std::shared_ptr<Collective> collective = apart(request);
  if (!collective) return false;
  runtime::Engine& engine = World::current()->engine();
  runtime::Lock lock = engine.lock();
  if (!collective->is_over()) engine.drive(lock);
  const bool is_over = collective->is_over();
  lock.unlock();
  complete_ended();
  if (!is_over || collective->result() != MPI_SUCCESS) return false;
  complete_apart(request, *collective);
  return true;
}

int Watch::result_of(int i) {
  if (const int of_send = send_halves_.result_of(i); of_send != MPI_SUCCESS) return of_send;
  if (const auto end = broken_sends_.end_of(i))
    return finish(end->comm, "isend", end->code, Lacks::nothing);
  if (collectives_.empty()) return MPI_SUCCESS;
  const Watched& ended = collectives_[static_cast<std::size_t>(i)];
  if (!ended.collective) return MPI_SUCCESS;
  Collective::Call call;
  {
    const Guard guard(table().mutex);
    call = ended.collective->call();
    MPI_Request request = ended.request;
    forget_ended(request, ended.ticket);
    if (request != ended.request) *ended.place = request;
    free_doomed();
  }
  return finish(call.comm, call.name, as_told(ended.collective->result()),
                shim::lacked_by(call.name));
}

// The first error of a call goes to the handler.
int Watch::finish(MPI_Comm comm, const char* name, int result, Lacks lacks) {
  if (!has_told_) {
    has_told_ = is_told(result, lacks);
    return shim::finish(comm, name, result, lacks);
  }
  if (is_loss(result)) World::current()->report().count_error(name);
  return result;
}

bool is_collective(MPI_Request request) {
  if (table().entry_count.load(std::memory_order_relaxed) == 0) return false;
  const Guard guard(table().mutex);
  return table().entries.contains(request);
}

bool has_collectives_of(MPI_Comm comm) {
  if (table().entry_count.load(std::memory_order_relaxed) == 0) return false;
  const Guard guard(table().mutex);
  return std::ranges::any_of(table().entries, [&](const auto& entry) {
    return entry.second.collective->call().comm == comm;
  });
}

int start_again(MPI_Request request) {
  World* world = World::current();
  Entry* entry = nullptr;  // stays where it is, and is this thread's
  {
    const Guard guard(table().mutex);
    entry = &table().entries.at(request);
    if (!entry->make || entry->is_started) return MPI_ERR_REQUEST;
  }
  const std::shared_ptr<OwnSession>& own = entry->own;
  Collective::Call call = entry->collective->call();
  call.ticket = entry->ticket;
  call.request = request;
  call.number = 0;
  call.substituted = substituted_collective(request);
  entering(call.name);
  runtime::Lock lock = world->engine().lock();
  const std::shared_ptr<Collective> collective = entry->make(call.comm, own->carrying());
  const bool is_apart = may_be_apart();
  const int code = !collective ? MPI_ERR_ARG : is_apart ? MPI_SUCCESS : PMPI_Start(&request);
  if (code != MPI_SUCCESS) {
    lock.unlock();
    return code;
  }
  collective->keep(own);
  if (own->has_communicator()) communicator_of(call.comm)->last = &own->session();
  const bool is_over = is_apart && is_over_at_start(*collective, call);
  {
    const Guard guard(table().mutex);
    entry->collective = collective;
    entry->is_started = true;
    entry->is_apart = is_apart;
    entry->has_ended = is_over;
    if (is_apart) table().apart_count.fetch_add(1);
  }
  if (!is_over) launch(collective, call);
  lock.unlock();
  complete_ended();
  return MPI_SUCCESS;
}

// What it holds may be memory that the engine's transport shares.
void forget_collective(MPI_Request request) {
  World* world = World::current();
  if (!is_collective(request) || world == nullptr) return;
  hand_all_to_mpi(1, &request);
  runtime::Lock lock = world->engine().lock();
  finish_departures(world->engine(), lock);
  leave_own_session(request, lock);
  const Guard guard(table().mutex);
  table().entries.erase(request);
  table().entry_count.store(static_cast<int>(table().entries.size()));
  free_doomed();
}

bool is_kept(MPI_Datatype datatype) {
  if (table().entry_count.load(std::memory_order_relaxed) == 0) return false;
  const Guard guard(table().mutex);
  if (!is_used(datatype)) return false;
  table().doomed_datatypes.push_back(datatype);
  return true;
}

bool is_kept(MPI_Op op) {
  if (table().entry_count.load(std::memory_order_relaxed) == 0) return false;
  const Guard guard(table().mutex);
  if (!is_used(op)) return false;
  table().doomed_ops.push_back(op);
  return true;
}

void leave_communicator(MPI_Comm comm, runtime::Lock& lock) {
  for (const auto& own : own_sessions_of(comm)) own->leave_communicator(lock);
}

void leave_persistent() {
  runtime::Lock lock = World::current()->engine().lock();
  std::vector<MPI_Request> left;
  {
    const Guard guard(table().mutex);
    for (const auto& [request, entry] : table().entries) left.push_back(request);
  }
  for (const MPI_Request request : left) leave_own_session(request, lock);
}

void open_requests() {
  do_meanwhile(drive);
  MPI_Comm own = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own);
  int* tag_max = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(own, MPI_TAG_UB, &tag_max, &is_set);
  const Guard guard(table().mutex);
  table().own = own;
  table().ticket_max = is_set != 0 ? *tag_max : 32767;
}

void close_requests() {
  complete_ended();
  const Guard guard(table().mutex);
  for (auto& [request, ticket] : table().names) PMPI_Request_free(&request);
  table().names.clear();
  PMPI_Comm_free(&table().own);
}

}  // namespace resprout::shim
