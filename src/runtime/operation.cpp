#include "runtime/operation.hpp"

#include <algorithm>
#include <cstring>

#include "core/invariant.hpp"
#include "runtime/blocks.hpp"

namespace resprout::runtime {
namespace {

void merge(std::vector<Rank>& into, const std::vector<Rank>& from) {
  for (const Rank rank : from) {
    const auto at = std::lower_bound(into.begin(), into.end(), rank);
    if (at == into.end() || *at != rank) into.insert(at, rank);
  }
}

// A list of ranks on the wire: 4 bytes each, in the byte order of the job's hosts.
std::vector<Rank> parse_ranks(std::span<const std::byte> bytes) {
  std::vector<Rank> ranks(bytes.size() / sizeof(Rank));
  if (!ranks.empty()) std::memcpy(ranks.data(), bytes.data(), ranks.size() * sizeof(Rank));
  return ranks;
}

}  // namespace

Arrival lasting(Arrival arrival) {
  if (arrival.is_shared || arrival.owned.data() != nullptr) return arrival;
  arrival.owned = Buffer(arrival.data);
  arrival.data = arrival.owned.view();
  return arrival;
}

Context Operation::context(Time now) const {
  return {now,
          {suspects_.data(), static_cast<std::uint32_t>(suspects_.size())},
          {mailbox_.data(), static_cast<std::uint32_t>(mailbox_.size())}};
}

void Operation::touch(Time now) {
  if (state_ != State::running || is_touched_) return;
  is_touched_ = true;
  touched_since_ = now;
}

void Operation::start(Time now, std::vector<Rank> suspects) {
  suspects_ = std::move(suspects);
  if (!suspects_.empty()) touch(now);
  machine_start(context(now));
  drain(now, nullptr, nullptr);
}

void Operation::handle_frame(Time now, const Message& message, std::span<const std::byte> prefix,
                             Arrival arrival) {
  Payload payload{parse_ranks(prefix), std::move(arrival)};
  const Disposition disposition = machine_handle_message(context(now), message);
  if (disposition == Disposition::done) {
    drain(now, &message, &payload);
    return;
  }
  Held held = hold(payload.arrival);
  payload.arrival = {held.data, std::move(held.owned), true};
  mailbox_.push_back(message);
  kept_.push_back(std::move(payload));
  drain(now, nullptr, nullptr);
}

void Operation::handle_suspicion(Time now, Rank rank) {
  const auto at = std::lower_bound(suspects_.begin(), suspects_.end(), rank);
  if (at != suspects_.end() && *at == rank) return;
  suspects_.insert(at, rank);
  touch(now);
  machine_handle_suspicion(context(now), rank);
  drain(now, nullptr, nullptr);
}

void Operation::handle_time(Time now) {
  machine_handle_timeout(context(now));
  drain(now, nullptr, nullptr);
}

void Operation::drain(Time now, const Message* current, Payload* payload) {
  while (const auto event = machine_poll_event(context(now))) act(*event, current, payload);
  deadline_ = machine_poll_timeout(context(now));
}

void Operation::act(const Event& event, const Message* current, Payload* payload) {
  switch (event.kind) {
    case EventKind::colored:
      RESPROUT_INVARIANT(current != nullptr && *current == event.subject);
      result_ = hold(payload->arrival);
      break;
    case EventKind::combine:
      combine(event.subject);
      break;
    case EventKind::adopt:
      adopt(event.subject, current, payload);
      break;
    case EventKind::restart:
      // Without a value of its own the accumulator stands for the result, if there is one, or the
      // input: see slot().
      abandon_partials();
      replace_accumulator(std::nullopt);
      excluded_.clear();
      if (event.subject.slot == Slot::result) excluded_ = result_excluded_;
      break;
    case EventKind::exclude:
      merge(excluded_, {event.subject.from});
      break;
    case EventKind::deliver:
      deliver(event, current, payload);
      state_ = State::delivered;
      break;
    case EventKind::fail:
      state_ = State::failed;
      break;
    case EventKind::suspect:
    case EventKind::revoked:  // no machine of an operation says so
      break;
  }
}

Operation::Payload* Operation::find_kept(const Message& subject) {
  for (std::size_t i = 0; i < mailbox_.size(); ++i)
    if (mailbox_[i] == subject) return &kept_[i];
  return nullptr;
}

// Never writes to what others may read: a peer's memory, or an accumulator that was sent.
void Operation::combine(const Message& subject) {
  Payload* kept = find_kept(subject);
  RESPROUT_INVARIANT(kept != nullptr);
  merge(excluded_, kept->excluded);
  if (subject.slot == Slot::none) return;
  if (setup_.concatenates) return append(kept->arrival);
  const auto lower = slot(Slot::accumulator);
  if (setup_.combiner == nullptr) {  // any payload will do
    if (!lower) replace_accumulator(hold(kept->arrival));
    return;
  }
  RESPROUT_INVARIANT(lower.has_value());
  if (!setup_.folds_pairwise) return combine_on_top(kept->arrival);
  if (processes_ == 1) {
    combine_on_top(kept->arrival);
    processes_ = 2;
  } else {
    partials_.push_back({std::move(*accumulator_), processes_});
    accumulator_ = hold(kept->arrival);
    processes_ = 1;
  }
  while (!partials_.empty() && partials_.back().processes == processes_) merge_partials();
}

// Copies nothing: all parts are put together at once, when somebody asks for the accumulator.
void Operation::append(Arrival& upper) {
  Held lower = accumulator_ ? std::move(*accumulator_) : Held{Buffer(), *setup_.input};
  partials_.push_back({std::move(lower), processes_});
  accumulator_ = hold(upper);
}

// upper := lower (op) upper
void Operation::fold(std::span<const std::byte> lower, Buffer& upper) {
  if (lower.size() != upper.size()) {
    has_misfits_ = true;
    upper = Buffer();
  } else if (upper.size() != 0) {
    setup_.combiner->combine(lower, {upper.data(), upper.size()});
  }
}

// The accumulator, and behind it `upper`.
void Operation::combine_on_top(Arrival& upper) {
  const auto lower = slot(Slot::accumulator);
  if (upper.owned.data() == nullptr && accumulator_ && accumulator_->is_own() &&
      setup_.combiner->is_commutative()) {
    fold(upper.data, accumulator_->owned);
    accumulator_->data = accumulator_->owned.view();
    return;
  }
  Buffer sum = upper.owned.data() != nullptr ? std::move(upper.owned) : copy(upper.data);
  fold(*lower, sum);
  replace_accumulator(hold(std::move(sum)));
}

// The last partial result, and behind it the accumulator.
void Operation::merge_partials() {
  Partial lower = std::move(partials_.back());
  partials_.pop_back();
  Buffer sum = accumulator_->owned.data() != nullptr ? std::move(accumulator_->owned)
                                                     : copy(accumulator_->data);
  fold(lower.held.data, sum);
  accumulator_ = hold(std::move(sum));
  processes_ += lower.processes;
}

// All contributions are there.
void Operation::settle_partials() {
  if (setup_.concatenates) return join_partials();
  while (!partials_.empty()) merge_partials();
}

void Operation::join_partials() {
  if (partials_.empty()) return;
  partials_.push_back({std::move(*accumulator_), processes_});
  std::size_t bytes = 0;
  for (const Partial& part : partials_) bytes += part.held.data.size();
  Buffer joined = setup_.outlet->allocate(bytes);
  std::byte* at = joined.data();
  for (const Partial& part : partials_) {
    copy_bytes(at, part.held.data.data(), part.held.data.size());
    at += part.held.data.size();
  }
  partials_.clear();
  accumulator_ = hold(std::move(joined));
}

void Operation::adopt(const Message& subject, const Message* current, Payload* payload) {
  if (current == nullptr || *current != subject) payload = find_kept(subject);
  RESPROUT_INVARIANT(payload != nullptr);
  excluded_ = payload->excluded;
  abandon_partials();
  if (subject.slot == Slot::none) {
    replace_accumulator(std::nullopt);
  } else {
    replace_accumulator(hold(payload->arrival));
  }
}

void Operation::replace_accumulator(std::optional<Held> by) {
  if (accumulator_ && accumulator_->owned.data() != nullptr)
    retired_.push_back(std::move(accumulator_->owned));
  accumulator_ = std::move(by);
}

void Operation::abandon_partials() {
  partials_.clear();
  processes_ = 1;
}

Buffer Operation::copy(std::span<const std::byte> data) {
  Buffer buffer = setup_.outlet->allocate(data.size());
  copy_bytes(buffer.data(), data.data(), data.size());
  return buffer;
}

Operation::Held Operation::hold(Buffer buffer) const {
  Held held{std::move(buffer), {}};
  held.data = held.owned.view();
  return held;
}

Operation::Held Operation::hold(Arrival& arrival) {
  if (arrival.owned.data() != nullptr) return hold(std::move(arrival.owned));
  if (arrival.is_shared) return Held{Buffer(), arrival.data};
  return hold(copy(arrival.data));
}

void Operation::deliver(const Event& event, const Message* current, Payload* payload) {
  if (event.subject.from == members().self()) {
    // What this process knows itself: what it has delivered, has been colored with, or has summed
    // up.
    settle_partials();
    result_excluded_ = excluded_;
    if (result_ || result_is_input_) return;
    if (accumulator_) {
      result_ = std::move(*accumulator_);
      accumulator_.reset();
    } else {
      result_is_input_ = setup_.input.has_value();
    }
    return;
  }
  if (current == nullptr || *current != event.subject) {  // a reduce whose root is gone
    is_nobodys_ = true;
    return;
  }
  result_excluded_ = payload->excluded;
  if (current->slot != Slot::none && !result_) result_ = hold(payload->arrival);
}

std::optional<std::span<const std::byte>> Operation::slot(Slot slot) const {
  switch (slot) {
    case Slot::none:
      return std::nullopt;
    case Slot::input:
      return setup_.input;
    case Slot::accumulator:
      if (accumulator_) return accumulator_->data;
      return result_ ? result_->data : setup_.input;
    case Slot::result:
      if (result_) return result_->data;
      return setup_.input;
  }
  return std::nullopt;
}

std::optional<std::span<const std::byte>> Operation::result() const {
  if (result_) return result_->data;
  return result_is_input_ ? setup_.input : std::nullopt;
}

bool Operation::fits(int ranks) const {
  const auto what = result();
  if (setup_.concatenates) return !what || is_row(*what, ranks);
  if (setup_.combiner == nullptr) return true;
  return !has_misfits_ && (!what || what->size() == setup_.input->size());
}

void Operation::skip_sends(Time now, int count) {
  for (; count > 0; --count) RESPROUT_INVARIANT(machine_poll_send(context(now)).has_value());
}

bool Operation::flush(Time now) {
  if (is_abandoned_) return true;
  for (;;) {
    if (!unsent_) {
      unsent_ = machine_poll_send(context(now));
      if (!unsent_) break;
    }
    if (!send(*unsent_)) return false;
    unsent_.reset();
  }
  deadline_ = machine_poll_timeout(context(now));
  return true;
}

// A large input goes to others from shared memory: they read it there, and the caller's memory is
// free as soon as it is copied.
void Operation::share_input() {
  if (!setup_.input || setup_.input->size() < shared_bytes_min || archived_input_.data() != nullptr)
    return;
  archived_input_ = copy(*setup_.input);
  setup_.input = archived_input_.view();
}

bool Operation::is_offered(const Message& message, std::span<const std::byte> data) const {
  return message.kind == MessageKind::correction && data.size() > corrected_bytes_max &&
         !setup_.outlet->passes_by_reference(members().world_rank(message.to), data);
}

bool Operation::send(const Message& wanted) {
  Message message = wanted;
  if (wanted.slot != Slot::none) share_input();
  if (wanted.slot == Slot::accumulator) settle_partials();
  auto data = slot(message.slot);
  if (data && is_offered(message, *data)) data.reset();
  if (!data) message.slot = Slot::none;
  std::span<const std::byte> prefix;  // who is missing from the slot's payload
  if (wanted.slot == Slot::accumulator) prefix = std::as_bytes(std::span(excluded_));
  // A result may have no payload, but says who was missing all the same.
  if (wanted.slot == Slot::result ||
      (wanted.slot == Slot::none && wanted.kind == MessageKind::result))
    prefix = std::as_bytes(std::span(result_excluded_));
  const bool is_callers = data && setup_.input && data->data() == setup_.input->data() &&
                          archived_input_.data() == nullptr;
  return setup_.outlet->try_send(members(), setup_.number, message, prefix,
                                 data.value_or(std::span<const std::byte>{}),
                                 is_callers ? input_transfer_ : own_transfer_);
}

void Operation::abandon() {
  is_abandoned_ = true;
  unsent_.reset();
  deadline_ = {};
  if (state_ == State::running) state_ = State::failed;
}

void Operation::archive() {
  RESPROUT_INVARIANT(!uses_caller_memory());
  setup_.combiner = nullptr;
  if (!setup_.input || archived_input_.data() != nullptr) return;
  // Once there is a result of its own, nobody can ask for the input.
  if (result_ || is_abandoned_) {
    setup_.input.reset();
    return;
  }
  archived_input_ = copy(*setup_.input);
  setup_.input = archived_input_.view();
}

void Operation::drop_payloads() {
  RESPROUT_INVARIANT(!uses_caller_memory());
  setup_.combiner = nullptr;
  setup_.input.reset();
  if (is_being_sent()) return;  // to somebody who is late, or lost: until all is forgotten
  partials_.clear();
  accumulator_.reset();
  result_.reset();
  archived_input_ = Buffer();
  retired_.clear();
  for (Payload& payload : kept_) payload.arrival = Arrival();
}

}  // namespace resprout::runtime
