// StepEngine, second half: what happens in a step. Included by engine.hpp.
// Thread rule: as StepEngine.
#pragma once

#include "sim/steps/engine.hpp"

namespace resprout::sim {

template <SteppedMachine M, Observer O>
StepTotals StepEngine<M, O>::run(std::span<const Death> deaths, std::span<const Time> entries,
                                 O& observer) {
  observer_ = &observer;
  reset(deaths, entries);
  while (unfinished_ > 0) {
    now_ = std::min(arrivals_.next(now_), looks_.next(now_));
    if (now_ == never) break;
    digest_.add(static_cast<std::uint64_t>(now_.ticks));
    bury();
    seen_by_ = no_rank;
    arrivals_.drain(
        now_, [this](const Envelope& envelope) { arrive(envelope); },
        [this](const Envelope& envelope) { expect(envelope.message.to); });
    looks_.drain(now_, [this](Rank rank) { look(rank); }, [this](Rank rank) { expect(rank); });
  }
  totals_.has_ended = unfinished_ == 0;
  for (std::int32_t i = 0; i < procs(); ++i) {
    const Process& self = process(rank_at(i));
    if (self.dies <= now_) continue;
    totals_.last_entry = std::max(totals_.last_entry, self.enters);
    totals_.longest_queue = std::max(totals_.longest_queue, queues_.longest(rank_at(i)));
    if (i == 0 || !self.is_done) continue;
    totals_.first_finish = std::min(totals_.first_finish, self.finished);
    totals_.last_finish = std::max(totals_.last_finish, self.finished);
  }
  totals_.digest = digest_.value();
  return totals_;
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::reset(std::span<const Death> deaths, std::span<const Time> entries) {
  queues_.clear();
  mailboxes_.clear();
  // What the last run left behind.
  arrivals_ = TimeWheel<Envelope>(2 * travel_);
  looks_ = TimeWheel<Rank>(looks_ahead);
  now_ = Time{};
  totals_ = {};
  digest_ = {};
  unfinished_ = procs();
  for (std::int32_t i = 0; i < procs(); ++i) {
    const auto at_i = static_cast<std::size_t>(i);
    Slot& slot = processes_[at_i];
    const Contacts contacts = slot.value.contacts;
    slot.value = Process{.machine = fresh_[at_i]};
    slot.value.contacts = {contacts.begin, 0, contacts.capacity};
    if (!entries.empty()) slot.value.enters = entries[at_i];
    slot.suspects.clear();
    look_at(rank_at(i), slot.value.enters);
  }
  deaths_.assign(deaths.begin(), deaths.end());
  for (const Death& death : deaths_)
    process(death.rank).dies = std::min(process(death.rank).dies, death.at);
  std::sort(deaths_.begin(), deaths_.end(), [](const Death& a, const Death& b) {
    return a.at != b.at ? a.at > b.at : a.rank > b.rank;
  });
  bury();
}

// Nobody waits any more for those who have died by now.
template <SteppedMachine M, Observer O>
void StepEngine<M, O>::bury() {
  for (; !deaths_.empty() && deaths_.back().at <= now_; deaths_.pop_back()) {
    Process& dead = process(deaths_.back().rank);
    if (dead.is_done || dead.is_buried) continue;
    dead.is_buried = true;
    --unfinished_;
  }
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::arrive(const Envelope& envelope) {
  const Message& message = envelope.message;
  Process& self = process(message.to);
  if (self.dies <= now_) return;
  queues_.push(message.to, message, envelope.payload, self.machine.distance_to(message.from));
  self.machine.handle_arrival(see(message.to), message);
  look_at(message.to, now_);
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::look_at(Rank rank, Time when) {
  Process& self = process(rank);
  if (when >= self.looks_next) return;
  self.looks_next = when;
  looks_.push(now_, when, rank);
}

// It will be looked at soon.
template <SteppedMachine M, Observer O>
void StepEngine<M, O>::expect(Rank rank) const {
  const auto fetch = [](const void* begin, std::size_t bytes) {
    const char* const byte = static_cast<const char*>(begin);
    for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(byte + i, 1);
  };
  fetch(&processes_[at(rank)], sizeof(Slot));
  fetch(&few_contacts_[at(rank) * few], few * sizeof(Contact));
  queues_.expect(rank);
  mailboxes_.expect(rank);
}

// With room for one more contact.
template <SteppedMachine M, Observer O>
const Context& StepEngine<M, O>::see(Rank rank) {
  const Contacts& contacts = process(rank).contacts;
  if (contacts.count == contacts.capacity) make_room(processes_[at(rank)]);
  if (rank == seen_by_) return seen_;
  const std::vector<Rank>& suspects = processes_[at(rank)].suspects;
  seen_ = {.now = now_,
           .suspects = {suspects.data(), static_cast<std::uint32_t>(suspects.size())},
           .mailbox = {},
           .contacts = &process(rank).contacts};
  if (mailboxes_.exist()) seen_.mailbox = mailboxes_.view(rank);
  seen_by_ = rank;
  return seen_;
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::make_room(Slot& slot) {
  Contacts& contacts = slot.value.contacts;
  const std::uint32_t capacity = 2 * contacts.capacity;
  auto larger = std::make_unique<Contact[]>(capacity);
  std::copy(contacts.begin, contacts.begin + contacts.count, larger.get());
  slot.contacts = std::move(larger);
  contacts = {slot.contacts.get(), contacts.count, capacity};
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::look(Rank rank) {
  Process& self = process(rank);
  if (self.looks_next != now_) return;
  self.looks_next = never;
  if (self.dies <= now_) return;
  if (!self.has_entered && self.enters <= now_) {
    self.has_entered = true;
    self.machine.start(see(rank));
    drain(rank, nullptr);
  }
  has_suspected_ = false;
  const bool has_acted = self.has_entered ? act(rank) : act_early(rank);
  note_end(rank);
  if (has_acted || has_suspected_) {
    look_at(rank, now_ + overhead_);
    return;
  }
  Time next = self.machine.poll_timeout(see(rank)).at;
  if (!self.has_entered) next = std::min(next, self.enters);
  if (next != never) look_at(rank, std::max(next, now_ + overhead_));
}

// Algorithm 1. False: there was nothing to spend the step on.
template <SteppedMachine M, Observer O>
bool StepEngine<M, O>::act(Rank rank) {
  M& machine = process(rank).machine;
  auto first = machine.poll_urgent(see(rank));
  if (!first) first = machine.poll_data(see(rank));
  if (first) {
    send(*first);
    drain(rank, nullptr);
    return true;
  }
  const std::int32_t distance = machine.service_distance(now_);
  return receive(rank, distance) || answer(rank, distance) || receive(rank, 0) || answer(rank, 0);
}

// Algorithm 5: what an answer is owed for, and then one more message that can be handled now.
template <SteppedMachine M, Observer O>
bool StepEngine<M, O>::act_early(Rank rank) {
  M& machine = process(rank).machine;
  if (const auto answer = machine.poll_answer(see(rank), 0)) {
    send(*answer);
    return true;
  }
  Entry entry;
  const auto order = [](const Entry& waiting) {
    if (waiting.message.kind == MessageKind::keepalive) return 0;
    return waiting.message.kind == MessageKind::acknowledgment ? 1 : 2;
  };
  if (!queues_.take(rank, 2, order, entry)) return false;
  machine.handle_message(see(rank), entry.message);
  return true;
}

// Algorithm 2.
template <SteppedMachine M, Observer O>
bool StepEngine<M, O>::receive(Rank rank, std::int32_t distance) {
  Entry entry;
  const auto order = [distance](const Entry& waiting) {
    if (distance != 0 && waiting.distance != distance) return 3;
    if (waiting.message.kind == MessageKind::keepalive) return 1;
    return waiting.message.kind == MessageKind::acknowledgment ? 2 : 0;
  };
  if (!queues_.take(rank, 3, order, entry)) return false;
  observer_->on_receive(now_, entry.message);
  const Context& context = see(rank);
  if (process(rank).machine.handle_message(context, entry.message) == Disposition::keep) {
    mailboxes_.keep(entry.message, entry.payload);
    seen_by_ = no_rank;
  }
  drain(rank, &entry);
  return true;
}

// Algorithm 4.
template <SteppedMachine M, Observer O>
bool StepEngine<M, O>::answer(Rank rank, std::int32_t distance) {
  M& machine = process(rank).machine;
  machine.look_after(see(rank), distance);
  drain(rank, nullptr);
  const auto message = machine.poll_answer(see(rank), distance);
  if (message) send(*message);
  return message.has_value();
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::send(const Message& message) {
  ++totals_.messages;
  if (message.kind == MessageKind::keepalive) ++totals_.keepalives;
  digest_.add(static_cast<std::uint64_t>(index(message.from)) << 32 |
              static_cast<std::uint64_t>(index(message.to)) << 3 |
              static_cast<std::uint64_t>(message.kind));
  const Time arrival = now_ + travel_;
  const Payload payload = observer_->on_send(message, {now_, arrival, never});
  arrivals_.push(now_, arrival, {message, payload});
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::drain(Rank rank, const Entry* current) {
  while (const auto event = process(rank).machine.poll_event(see(rank)))
    obey(rank, *event, current);
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::obey(Rank rank, const Event& event, const Entry* current) {
  digest_.add(static_cast<std::uint64_t>(index(rank)) << 8 |
              static_cast<std::uint64_t>(event.kind));
  if (event.kind == EventKind::suspect) {
    suspect(rank, event.subject.from);
    return;
  }
  const bool is_current = current != nullptr && current->message == event.subject;
  const Payload* payload = is_current ? &current->payload : nullptr;
  if (!mailboxes_.exist()) {
    observer_->on_event(now_, rank, event, payload);
    return;
  }
  const Payload* const kept = mailboxes_.find(rank, event.subject);
  observer_->on_event(now_, rank, event, kept != nullptr ? kept : payload);
  mailboxes_.drop(rank, event);
  seen_by_ = no_rank;
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::suspect(Rank rank, Rank suspected) {
  std::vector<Rank>& suspects = processes_[at(rank)].suspects;
  suspects.insert(std::lower_bound(suspects.begin(), suspects.end(), suspected), suspected);
  seen_by_ = no_rank;
  if (process(suspected).dies > now_) ++totals_.false_suspicions;
  has_suspected_ = true;
  process(rank).machine.handle_suspicion(see(rank), suspected);
}

template <SteppedMachine M, Observer O>
void StepEngine<M, O>::note_end(Rank rank) {
  Process& self = process(rank);
  const bool is_done = self.machine.is_done();
  if (is_done == self.is_done) return;
  self.is_done = is_done;
  self.finished = now_ + overhead_;
  unfinished_ += is_done ? -1 : 1;
}

}  // namespace resprout::sim
