#include "runtime/session.hpp"

#include <algorithm>

#include "core/invariant.hpp"
#include "core/random.hpp"
#include "runtime/operation_label.hpp"

namespace resprout::runtime {

namespace {
// Payloads of less travel inside of frames; others lie where the receivers can read them.
constexpr std::size_t inline_bytes_max = 1024;

// How the root of a star reaches everybody: in this order, as its machine would.
Message direct_message(Rank root, int i, int procs) {
  Message message;
  message.from = root;
  message.to = rank_at((index(root) + 1 + i) % procs);
  message.kind = MessageKind::tree;
  message.slot = Slot::input;
  return message;
}

}  // namespace

Outcome operator+(Outcome before, const Outcome& last) {
  before.is_delivered = last.is_delivered;
  before.is_touched = before.is_touched || last.is_touched;
  before.is_mismatched = before.is_mismatched || last.is_mismatched;
  before.recovery_ns += last.recovery_ns;
  for (const int rank : last.lost)
    if (std::find(before.lost.begin(), before.lost.end(), rank) == before.lost.end())
      before.lost.push_back(rank);
  return before;
}

Session::Session(Progress& progress, std::uint64_t id, std::shared_ptr<const Members> members,
                 bool is_on_one_host)
    : progress_(progress),
      id_(id),
      everybody_(members),
      members_(std::move(members)),
      is_on_one_host_(is_on_one_host),
      prefers_star_(is_on_one_host && everybody_->size() <= star_ranks_max),
      log_(progress.transport(), progress.agenda()),
      revocation_(progress, id, everybody_, is_on_one_host) {}

std::uint64_t Session::child(std::uint64_t key) const {
  std::uint64_t state = id_ ^ (key * 0x9e3779b97f4a7c15);
  return splitmix64(state);
}

Operation::Setup Session::setup() {
  Operation::Setup setup;
  setup.number = log_.take_number();
  setup.members = members_;
  setup.outlet = this;
  return setup;
}

// The operation owns its input: others may read it where it is, without a copy.
Operation::Setup Session::concatenation(Buffer input) {
  Operation::Setup with = setup();
  with.input = input.view();
  with.owned_input = std::move(input);
  with.concatenates = true;
  return with;
}

std::unique_ptr<Operation> Session::make_barrier() {
  Operation::Setup with = setup();
  with.input.emplace();  // a payload of no bytes
  return make_allreduce(std::move(with), prefers_star_ ? ReduceSpec::star() : ReduceSpec{});
}

Outcome Session::synchronize(Lock& lock) {
  return run(lock, make_barrier(), nullptr, After::synchronize);
}

bool Session::goes_directly(const BroadcastSpec& spec, bool is_root, std::size_t bytes) {
  return prefers_star_ && spec.is_star(members_->size()) && bytes < large_bytes &&
         log_.payloads().has_room(bytes) &&
         (!is_root || bytes < inline_bytes_max || log_.payloads().is_shared());
}

std::uint64_t Session::start_directly(const BroadcastSpec& spec, Rank root,
                                      std::span<const std::byte> payload) {
  const std::uint64_t number = log_.take_number();
  OperationRecord& record = log_.add();
  record.carrier = OperationRecord::Carrier::direct;
  record.spec = spec;
  record.root = root;
  if (members_->self() == root) record.payload = log_.payloads().append(payload);
  if (is_revoked()) return number;
  if (log_.has_early()) handle_early_frames(number);
  for (const Rank rank : progress_.losses().among(*members_))
    handle_suspicion(record, number, rank);
  return number;
}

// REQUIRES: if it is direct, it is a broadcast that is over, or the session is revoked.
Outcome Session::finish_record(OperationRecord& record, ResultConsumer consume, After after) {
  if (record.operation) return finish(*record.operation, consume, after);
  Outcome outcome;
  outcome.is_delivered = record.payload.has_value();
  if (outcome.is_delivered && consume) consume(*record.payload);
  return outcome;
}

// Sends what the root still has to send; true if the call may return.
bool Session::advance(OperationRecord& record, std::uint64_t number) {
  if (record.operation)
    return record.operation->state() != Operation::State::running &&
           !record.operation->uses_caller_memory();
  if (is_revoked()) return true;
  if (members_->self() != record.root) return record.payload.has_value();
  Transfer transfer;
  for (; record.sent < members_->size() - 1; ++record.sent) {
    const Message message = direct_message(record.root, record.sent, members_->size());
    if (!try_send(*members_, number, message, {}, *record.payload, transfer)) return false;
    RESPROUT_INVARIANT(transfer.pending == 0);
  }
  return true;
}

bool Session::is_over(const OperationRecord& record) const {
  return record.payload && (record.is_native() || members_->self() != record.root ||
                            record.sent == members_->size() - 1);
}

const Members& Session::members_of(const OperationRecord& record) const {
  return record.operation ? record.operation->members() : *members_;
}

// True if that is all there is to do about the message.
bool Session::maybe_take(OperationRecord& record, const Message& message, Arrival& arrival) {
  if (!record.is_direct()) return false;
  if (message.kind != MessageKind::tree || message.from != record.root) return false;
  if (record.payload) return true;
  if (arrival.owned.data() == nullptr && !arrival.is_shared) {
    if (log_.payloads().has_room(arrival.data.size())) {
      record.payload = log_.payloads().append(arrival.data);
      return true;
    }
    arrival = lasting(std::move(arrival));
  }
  record.owned = std::move(arrival.owned);
  record.payload = arrival.data;
  return true;
}

// From here on a machine carries it.
Operation& Session::revive(OperationRecord& record, std::uint64_t number) {
  return record.is_native() ? revive_native(record, number) : revive_broadcast(record, number);
}

// The machine is told what has happened so far.
Operation& Session::revive_broadcast(OperationRecord& record, std::uint64_t number) {
  const bool is_root = members_->self() == record.root;
  Operation::Setup with;
  with.number = number;
  with.members = members_;
  with.outlet = this;
  if (is_root) with.input = record.payload;
  record.operation = make_broadcast(std::move(with), record.spec, record.root);
  Operation& operation = *record.operation;
  operation.start(progress_.now(), {});
  if (!is_root && record.payload) {
    Message message = direct_message(record.root, 0, members_->size());
    message.to = members_->self();
    const bool lies_elsewhere = record.owned.data() == nullptr;
    operation.handle_frame(progress_.now(), message, {},
                           {*record.payload, std::move(record.owned), lies_elsewhere});
  }
  operation.skip_sends(progress_.now(), record.sent);
  for (const Rank rank : progress_.losses().among(*members_))
    operation.handle_suspicion(progress_.now(), rank);
  return operation;
}

Outcome Session::run(Lock& lock, std::unique_ptr<Operation> operation, ResultConsumer consume,
                     After after, OperationRecord::Carrier of) {
  Operation& running = *operation;
  log_.add(std::move(operation)).carrier = of;
  start(running);
  progress_.wait_until(lock, [&] {
    return running.state() != Operation::State::running && !running.uses_caller_memory();
  });
  return finish(running, consume, after);
}

Outcome Session::finish(Operation& running, ResultConsumer consume, After after) {
  Outcome outcome;
  const bool is_left_out = maybe_give_up(running);
  outcome.is_delivered = running.state() == Operation::State::delivered && !is_left_out;
  outcome.is_touched = running.is_touched();
  if (outcome.is_touched) {
    outcome.recovery_ns = progress_.now() - running.touched_since();
    for (const Rank rank : running.suspects())
      outcome.lost.push_back(running.members().world_rank(rank));
  }
  if (outcome.is_delivered) {
    outcome.is_mismatched = !running.fits(everybody_->size());
    if (const auto result = running.result(); result && consume && !outcome.is_mismatched)
      consume(*result);
  }
  if (after == After::drop && !outcome.is_touched)
    running.drop_payloads();
  else if (after == After::archive || after == After::drop)
    running.archive();
  if (after != After::synchronize) return outcome;
  running.archive();
  if (!running.excluded().empty() && !is_left_out) members_ = members_->without(running.excluded());
  log_.forget_before(running.number());
  return outcome;
}

// True: the others have agreed on a result without this process, which lives. Its lifeline will
// hear the same; until then it must not count itself in.
bool Session::maybe_give_up(const Operation& operation) {
  const std::vector<Rank>& excluded = operation.excluded();
  if (!std::binary_search(excluded.begin(), excluded.end(), operation.members().self()))
    return false;
  progress_.cut_off();
  cut_off();
  return true;
}

// The last broadcast has failed, as all know who live. Somebody who is lost may have got it, and
// have gone on with something else than they do. What is kept stays what it was among all of them.
void Session::part_from_the_lost() {
  if (is_revoked()) return;
  for (std::uint64_t number = log_.first(); number < log_.next(); ++number) settle(number);
  members_ = members_->after(log_.next());
}

void Session::note_contributors(const Outcome& outcome, Rank root) {
  const Operation* operation = log_.latest().operation.get();
  if (!outcome.is_delivered || (operation != nullptr && operation->is_nobodys()))
    contributors_.clear();
  else if (operation != nullptr)
    contributors_.set(operation->shared_members(), operation->excluded(), root);
  else
    contributors_.set(members_, {}, root);
}

void Session::start(Operation& operation) {
  if (is_revoked()) return operation.abandon();
  operation.start(progress_.now(), progress_.losses().among(operation.members()));
  if (log_.has_early()) handle_early_frames(operation.number());
  flush(operation);
}

void Session::handle_early_frames(std::uint64_t number) {
  for (EarlyFrame& frame : log_.take_early(number))
    handle_due_frame(frame.peer, frame.header, frame.prefix, std::move(frame.arrival));
}

void Session::flush(Operation& operation) {
  if (progress_.is_lifelines() && operation.is_for_program()) {
    progress_.agenda().flush_later(*this, operation.number());
    return;
  }
  if (!operation.flush(progress_.now())) progress_.agenda().flush_later(*this, operation.number());
  if (operation.deadline().at != never)
    progress_.agenda().wake_at_deadline(*this, operation.number());
}

void Session::flush(std::uint64_t number) {
  if (number == revocation_number) return flush_revocation();
  if (number == standstill_number) return standstill.flush();
  if (Operation* operation = find(number)) flush(*operation);
}

void Session::handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                           Arrival arrival) {
  if (header.operation == revocation_number) return handle_notice(peer, header.message);
  if (is_revoked()) return;
  if (header.operation == standstill_number) return standstill.handle_frame(peer, header.message);
  const std::uint64_t number = number_in(header.operation);
  if (number >= log_.next()) {
    log_.keep_early(number, {peer, header, prefix, std::move(arrival)});
    return;
  }
  const OperationRecord* record = log_.find(number);
  if (record == nullptr) return;  // forgotten: every live member has completed it
  if (has_to_wait(*record)) {
    log_.keep_early(number, {peer, header, prefix, std::move(arrival)});
    progress_.agenda().catch_up_later(*this, number);
    return;
  }
  handle_due_frame(peer, header, prefix, std::move(arrival));
}

// What was said among others, by somebody who is lost, means something else.
bool Session::is_among_us(const OperationRecord& record, int peer,
                          const FrameHeader& header) const {
  const Members& members = members_of(record);
  return view_in(header.operation) == members.view() &&
         members.index_of_world_rank(peer) == header.message.from;
}

void Session::handle_due_frame(int peer, const FrameHeader& header,
                               std::span<const std::byte> prefix, Arrival arrival) {
  const std::uint64_t number = number_in(header.operation);
  OperationRecord& record = *log_.find(number);
  if (!is_among_us(record, peer, header)) return;
  if (maybe_take(record, header.message, arrival)) return;
  Operation& operation = record.operation ? *record.operation : revive(record, number);
  operation.handle_frame(progress_.now(), header.message, prefix, std::move(arrival));
  progress_.agenda().flush_later(*this, number);  // the transport that delivers must not be called
}

void Session::handle_loss(int world_rank) {
  if (is_revoked()) {
    revocation_.handle_loss(world_rank);
    return flush_revocation();
  }
  for (std::uint64_t number = log_.next(); number-- > log_.first();) {
    OperationRecord& record = *log_.find(number);
    const Rank rank = members_of(record).index_of_world_rank(world_rank);
    if (rank != no_rank) handle_suspicion(record, number, rank);
  }
}

// What is over directly stays over while its root lives, unless somebody asks for something. With
// the root lost it has to be settled, but nobody here waits for that. What is over natively may not
// be so for others.
void Session::handle_suspicion(OperationRecord& record, std::uint64_t number, Rank rank) {
  if (!record.operation && is_over(record)) {
    if (record.is_native() || rank == record.root)
      progress_.agenda().settle_later(*this, number, record.is_given_again());
    return;
  }
  if (!record.operation) revive(record, number);
  if (has_to_wait(record)) return progress_.agenda().catch_up_later(*this, number);
  record.operation->handle_suspicion(progress_.now(), rank);
  flush(*record.operation);
}

bool Session::has_to_wait(const OperationRecord& record) const {
  return record.operation && progress_.is_lifelines() && record.operation->is_for_program();
}

void Session::catch_up(std::uint64_t number) {
  const OperationRecord* record = log_.find(number);
  if (record == nullptr || !record->operation || is_revoked()) return;
  handle_early_frames(number);
  Operation& operation = *record->operation;
  for (const Rank rank : progress_.losses().among(operation.members()))
    operation.handle_suspicion(progress_.now(), rank);
  flush(operation);
}

void Session::enqueue(std::shared_ptr<Task> task) {
  tasks_.push_back(std::move(task));
  has_tasks_.store(true, std::memory_order_release);
  if (tasks_.size() > 1) return;
  advance_tasks();
  if (has_tasks()) progress_.agenda().attend_to(*this);
}

// The task that ends may be the last that holds what it refers to: it goes when nothing is done
// with it any more.
bool Session::advance_tasks() {
  bool has_ended = false;
  while (!tasks_.empty()) {
    const std::shared_ptr<Task> task = tasks_.front();
    if ((progress_.is_lifelines() && task->is_for_program()) || !task->advance()) break;
    tasks_.pop_front();
    has_ended = true;
  }
  has_tasks_.store(!tasks_.empty(), std::memory_order_release);
  return has_ended;
}

void Session::finish_tasks(Lock& lock) {
  progress_.wait_until(lock, [&] { return tasks_.empty(); });
}

void Session::settle(std::uint64_t number) {
  OperationRecord* record = log_.find(number);
  if (record != nullptr && !record->operation && !is_revoked()) flush(revive(*record, number));
}

bool Session::try_send(const Members& members, std::uint64_t operation, const Message& message,
                       std::span<const std::byte> prefix, std::span<const std::byte> data,
                       Transfer& transfer) {
  if (is_revoked()) return true;
  const FrameHeader header{id_, label_of(operation, members.view()), message};
  return progress_.transport().try_send(members.world_rank(message.to), header, prefix, data,
                                        transfer);
}

bool Session::passes_by_reference(int world_rank, std::span<const std::byte> data) const {
  return progress_.transport().passes_by_reference(world_rank, data);
}

Buffer Session::allocate(std::size_t bytes) {
  return bytes < shared_bytes_min ? Buffer(bytes) : Buffer(bytes, progress_.transport());
}

void Session::for_each_awaited(const std::function<void(int)>& function,
                               const std::function<void(const Members&)>& below) const {
  if (is_below_.load(std::memory_order_relaxed) && !is_on_one_host_) below(*everybody_);
  log_.for_each([&](std::uint64_t, const OperationRecord& record) {
    if (record.operation) {
      record.operation->for_each_awaited(progress_.now(), function);
    } else if (record.is_direct() && !is_over(record)) {
      const Rank rank = members_->self() == record.root
                            ? direct_message(record.root, record.sent, members_->size()).to
                            : record.root;
      function(members_->world_rank(rank));
    }
  });
}

}  // namespace resprout::runtime
