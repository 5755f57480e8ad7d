// Runs one operation of P processes on a LogP machine.
//
// Corrected Trees, section 2.2. A process has a send port and a receive port that overlap each
// other.
//
// Invariants
//  1. A send that starts at t holds the send port until t+o and arrives at t+o+L. Its receive
//  starts
//     then, or when the receive port is free, holds it for o, and is handled at its end. Messages
//     that wait at one receiver are served in the order of (start of the send, sender).
//  2. What happens at one time is ordered: ends of receives, timers, suspicions, starts of sends;
//     starts of sends by rank, all else as it was caused. So a send knows every receive that ended
//     by then, and equal runs are equal event for event.
//  3. A process that dies at t handles and starts nothing from t on. A message that it started to
//     send before arrives; one whose receive would end at t or later vanishes.
// Because all sends of a time start in the order of ranks and take equally long, the end of a
// receive is known when the send starts: one entry in the wheel is all that a message costs. Thread
// rule: one thread an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/protocol.hpp"
#include "sim/logp/faults.hpp"
#include "sim/logp/model.hpp"
#include "sim/logp/port_queue.hpp"
#include "sim/logp/rank_set.hpp"
#include "sim/logp/time_wheel.hpp"

namespace resprout::sim {

// What became of a message that was sent.
struct Flight {
  Time sent;      // start of the send
  Time arrived;   // at the receiver's port
  Time received;  // end of the receive; never: the receiver was dead by then
};

// What is said of every operation.
struct Totals {
  std::int64_t messages = 0;
  Time quiescence{};  // the last activity of a port
  std::uint64_t digest = 0;
};

// Watches an operation and keeps the payloads, which the machines do not know.
template <typename O>
concept Observer =
    requires(O observer, Time now, Rank rank, const Message& message, const Flight& flight,
             const Event& event, const typename O::Payload* payload) {
      // `message` starts to be sent; returns the payload that goes with it.
      { observer.on_send(message, flight) } -> std::same_as<typename O::Payload>;
      // Its receive has ended, and will be handled.
      { observer.on_receive(now, message) } -> std::same_as<void>;
      // `payload`: of the message that the event speaks of, null if there is none.
      { observer.on_event(now, rank, event, payload) } -> std::same_as<void>;
    };

template <Machine M, Observer O>
class Engine {
 public:
  Engine(const LogP& model, std::int32_t procs)
      : overhead_(model.overhead),
        travel_(model.overhead + model.latency),
        spacing_(model.spacing()),
        procs_(procs),
        ready_(procs),
        receives_(4 * model.hop()),
        ports_(procs),
        timers_(model.hop()) {
    processes_.reserve(static_cast<std::size_t>(procs));
  }

  // Suspicions: everybody suspects a process `delay` after its death. Without: nobody ever does.
  void set_detection(Duration delay) { detection_ = delay; }

  // One operation from time 0 to its rest, with the machines that make(rank) gives.
  template <typename Make>
  Totals run(Make make, std::span<const Death> deaths, O& observer);

  // Of the operation that has run: whether the process was alive to the end.
  bool is_alive(Rank rank) const { return dies(rank) > last_; }

 private:
  struct alignas(64) Process {
    M machine;
    Time receive_free{};
    Time timer = never;       // the last one that was set
    bool is_sending = false;  // until ports_ says otherwise
    bool is_mortal = false;   // dies at some time
  };

  struct Envelope {
    Message message;
    [[no_unique_address]] typename O::Payload payload;
  };

  // Messages that a machine wanted to be kept, and their payloads.
  struct Mailbox {
    std::vector<Message> messages;
    std::vector<typename O::Payload> payloads;
  };

  Process& at(Rank rank) { return processes_[static_cast<std::size_t>(index(rank))]; }
  const Process& at(Rank rank) const { return processes_[static_cast<std::size_t>(index(rank))]; }
  Mailbox& mailbox(Rank rank) { return mailboxes_[static_cast<std::size_t>(index(rank))]; }

  Time dies(Rank rank) const {
    return at(rank).is_mortal ? dies_[static_cast<std::size_t>(index(rank))] : never;
  }

  template <typename Make>
  void reset(Make make, std::span<const Death> deaths);
  const Context& context(Rank rank);
  template <typename Handle>
  void handle(Rank rank, const Envelope* current, Handle call);
  void receive(const Envelope& envelope);
  void keep(const Envelope& envelope);
  void raise(Rank rank, const Event& event, const Envelope* current);
  void suspect_dead();
  void poll(Rank rank);
  void send(Process& sender, const Message& message);
  Time next_time() const;

  Duration overhead_;
  Duration travel_;  // from the start of a send to the arrival
  Duration spacing_;
  std::int32_t procs_;
  std::optional<Duration> detection_;
  std::vector<Process> processes_;
  std::vector<Time> dies_;        // of the mortal ones
  RankSet ready_;                 // have a free send port, now
  TimeWheel<Envelope> receives_;  // by their ends
  PortQueue ports_;
  TimeWheel<Rank> timers_;
  std::vector<Mailbox> mailboxes_;  // empty until somebody keeps a message
  bool has_mailboxes_ = false;
  std::vector<Death> suspicions_;  // that come, the last one first
  std::vector<Rank> suspects_;
  Time now_{};
  Time last_{};     // when something happened
  Context seen_{};  // now_ and suspects_, and the mailbox of whoever was asked last
  Totals totals_;
  Digest digest_;
  O* observer_ = nullptr;
};

template <Machine M, Observer O>
template <typename Make>
[[gnu::flatten]] Totals Engine<M, O>::run(Make make, std::span<const Death> deaths, O& observer) {
  observer_ = &observer;
  reset(make, deaths);
  for (std::int32_t rank = 0; rank < procs_; ++rank)
    handle(rank_at(rank), nullptr, [](M& machine, const Context& c) { machine.start(c); });
  for (; now_ != never; now_ = next_time()) {
    last_ = now_;
    seen_.now = now_;
    digest_.add(static_cast<std::uint64_t>(now_.ticks));
    receives_.drain(
        now_, [this](const Envelope& envelope) { receive(envelope); },
        [this](const Envelope& envelope) { __builtin_prefetch(&at(envelope.message.to), 1); });
    timers_.drain(now_, [this](Rank rank) {
      handle(rank, nullptr, [](M& machine, const Context& c) { machine.handle_timeout(c); });
    });
    suspect_dead();
    ports_.drain(now_, [this](Rank rank) { ready_.insert(index(rank)); });
    ready_.drain([this](std::int32_t rank) { poll(rank_at(rank)); });
  }
  totals_.digest = digest_.value();
  return totals_;
}

template <Machine M, Observer O>
template <typename Make>
void Engine<M, O>::reset(Make make, std::span<const Death> deaths) {
  processes_.clear();
  for (std::int32_t rank = 0; rank < procs_; ++rank) processes_.push_back({make(rank_at(rank))});
  mailboxes_.clear();
  has_mailboxes_ = false;
  suspects_.clear();
  suspicions_.clear();
  now_ = Time{};
  seen_ = {};
  totals_ = {};
  digest_ = {};
  if (!deaths.empty()) dies_.assign(static_cast<std::size_t>(procs_), never);
  for (const Death& death : deaths) {
    at(death.rank).is_mortal = true;
    Time& dies = dies_[static_cast<std::size_t>(index(death.rank))];
    dies = std::min(dies, death.at);
  }
  if (!detection_) return;
  for (std::int32_t rank = 0; rank < procs_; ++rank)
    if (const Time time = dies(rank_at(rank)); time != never)
      suspicions_.push_back({rank_at(rank), time + *detection_});
  std::sort(suspicions_.begin(), suspicions_.end(), [](const Death& a, const Death& b) {
    return a.at != b.at ? a.at > b.at : a.rank > b.rank;
  });
}

// What `rank` may look at; valid until time goes on, or a message is kept or taken.
template <Machine M, Observer O>
const Context& Engine<M, O>::context(Rank rank) {
  if (has_mailboxes_) [[unlikely]] {
    const auto& kept = mailbox(rank).messages;
    seen_.mailbox = {kept.data(), static_cast<std::uint32_t>(kept.size())};
  }
  return seen_;
}

// Lets the machine of `rank` handle something, and does what it wants then. `current`: the message
// that is handled, if one is.
template <Machine M, Observer O>
template <typename Handle>
void Engine<M, O>::handle(Rank rank, const Envelope* current, Handle call) {
  Process& process = at(rank);
  if (process.is_mortal && dies(rank) <= now_) [[unlikely]]
    return;
  call(process.machine, context(rank));
  while (const auto event = process.machine.poll_event(context(rank))) raise(rank, *event, current);
  const Time timer = process.machine.poll_timeout(seen_).at;
  if (timer != process.timer) {
    process.timer = timer;
    if (timer != never) timers_.push(now_, std::max(now_, timer), rank);
  }
  if (!process.is_sending) ready_.insert(index(rank));
}

template <Machine M, Observer O>
void Engine<M, O>::receive(const Envelope& envelope) {
  observer_->on_receive(now_, envelope.message);
  handle(envelope.message.to, &envelope, [&](M& machine, const Context& c) {
    if (machine.handle_message(c, envelope.message) == Disposition::keep) keep(envelope);
  });
}

template <Machine M, Observer O>
void Engine<M, O>::keep(const Envelope& envelope) {
  if (!has_mailboxes_) mailboxes_.resize(static_cast<std::size_t>(procs_));
  has_mailboxes_ = true;
  mailbox(envelope.message.to).messages.push_back(envelope.message);
  mailbox(envelope.message.to).payloads.push_back(envelope.payload);
}

template <Machine M, Observer O>
void Engine<M, O>::raise(Rank rank, const Event& event, const Envelope* current) {
  digest_.add(static_cast<std::uint64_t>(index(rank)) << 8 |
              static_cast<std::uint64_t>(event.kind));
  const bool is_current = current != nullptr && current->message == event.subject;
  if (!has_mailboxes_) {
    observer_->on_event(now_, rank, event, is_current ? &current->payload : nullptr);
    return;
  }
  auto& [messages, payloads] = mailbox(rank);
  const auto found = std::find(messages.begin(), messages.end(), event.subject);
  const auto kept = payloads.begin() + (found - messages.begin());
  const auto* payload = is_current ? &current->payload : nullptr;
  observer_->on_event(now_, rank, event, found != messages.end() ? &*kept : payload);

  const bool is_taken = event.kind == EventKind::combine || event.kind == EventKind::adopt;
  if (is_taken && found != messages.end()) {
    messages.erase(found);
    payloads.erase(kept);
  }
  std::int64_t obsolete_below = 0;
  if (event.kind == EventKind::restart) obsolete_below = event.subject.round;
  if (event.kind == EventKind::deliver) obsolete_below = std::int64_t{event.subject.round} + 1;
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (messages[i].round >= obsolete_below) continue;
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
    payloads.erase(payloads.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

template <Machine M, Observer O>
void Engine<M, O>::suspect_dead() {
  for (; !suspicions_.empty() && suspicions_.back().at <= now_; suspicions_.pop_back()) {
    const Rank suspect = suspicions_.back().rank;
    suspects_.insert(std::lower_bound(suspects_.begin(), suspects_.end(), suspect), suspect);
    seen_.suspects = {suspects_.data(), static_cast<std::uint32_t>(suspects_.size())};
    for (std::int32_t rank = 0; rank < procs_; ++rank)
      handle(rank_at(rank), nullptr,
             [&](M& machine, const Context& c) { machine.handle_suspicion(c, suspect); });
  }
}

template <Machine M, Observer O>
void Engine<M, O>::poll(Rank rank) {
  Process& process = at(rank);
  process.is_sending = false;
  if (process.is_mortal && dies(rank) <= now_) [[unlikely]]
    return;
  if (const auto message = process.machine.poll_send(context(rank))) send(process, *message);
}

template <Machine M, Observer O>
void Engine<M, O>::send(Process& sender, const Message& message) {
  sender.is_sending = true;
  ports_.push(now_ + spacing_, message.from);
  ++totals_.messages;
  digest_.add(static_cast<std::uint64_t>(index(message.from)) << 32 |
              static_cast<std::uint64_t>(index(message.to)));

  Process& receiver = at(message.to);
  const Time arrived = now_ + travel_;
  const Time start = std::max(arrived, receiver.receive_free);
  const Time end = start + overhead_;
  if (receiver.is_mortal && end >= dies(message.to)) [[unlikely]] {
    totals_.quiescence = std::max(totals_.quiescence, arrived);
    observer_->on_send(message, {now_, arrived, never});
    return;
  }
  receiver.receive_free = start + spacing_;
  totals_.quiescence = std::max(totals_.quiescence, end);
  receives_.push(now_, end, Envelope{message, observer_->on_send(message, {now_, arrived, end})});
}

template <Machine M, Observer O>
Time Engine<M, O>::next_time() const {
  Time next = std::min({receives_.next(now_), ports_.next(), timers_.next(now_)});
  if (!suspicions_.empty()) next = std::min(next, suspicions_.back().at);
  return next;
}

}  // namespace resprout::sim
