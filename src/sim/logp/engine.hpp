// Runs one operation of P processes on a LogP machine.
//
// Corrected Trees, section 2.2. A process has a send port and a receive port that overlap each
// other.
//
// Invariants
//  1. A send that starts at t holds the send port until t+o and arrives at t+o+L. Its receive
//     starts then, or when the receive port is free, holds it for o, and is handled at its end.
//     Messages that wait at one receiver are served in the order of (start of the send, sender).
//  2. What happens at one time is ordered: ends of receives, timers, suspicions, starts of sends;
//     starts of sends by rank, all else as it was caused. So a send knows every receive that ended
//     by then, and equal runs are equal event for event.
//  3. With noise the receive holds its port for o and what is drawn for it, and is handled then.
//  4. A process that dies at t handles and starts nothing from t on. A message that it started to
//     send before arrives; one whose receive would end at t or later vanishes.
// Because all sends of a time start in the order of ranks and take equally long, the end of a
// receive is known when the send starts: one entry in the wheel is all that a message costs.
//
// Fast: each phase of a tick is a loop into which the machine is inlined (`flatten`); what is rare
// stays out of it (`noinline`). docs/how-to/sim.md says what they cost.
//
// Thread rule: one thread an engine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/protocol.hpp"
#include "sim/logp/faults.hpp"
#include "sim/logp/mailboxes.hpp"
#include "sim/logp/model.hpp"
#include "sim/logp/packed_message.hpp"
#include "sim/logp/send_ports.hpp"
#include "sim/logp/slab.hpp"
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
        noise_mean_(model.noise),
        procs_(procs),
        receives_(4 * model.hop()),
        timers_(model.hop()),
        ports_(procs, model.spacing()),
        mailboxes_(procs) {
    processes_.reserve(static_cast<std::size_t>(procs));
  }

  // Suspicions: everybody suspects a process `delay` after its death. Without: nobody ever does.
  void set_detection(Duration delay) { detection_ = delay; }

  // One operation from time 0 to its rest, with the machines that make(rank) gives. `seed`: of the
  // noise.
  template <typename Make>
  Totals run(Make make, std::span<const Death> deaths, O& observer, std::uint64_t seed = 0);

  // Of the operation that has run: whether the process was alive to the end.
  bool is_alive(Rank rank) const { return process(rank).dies > last_; }

 private:
  struct Process {
    M machine;
    Time timer = never;   // the last one that was set
    Time receive_free{};  // when its receive port is
    Time dies = never;
  };

  struct Envelope {
    PackedMessage packed;
    [[no_unique_address]] typename O::Payload payload;
  };

  static std::size_t at(Rank rank) { return static_cast<std::size_t>(index(rank)); }
  Process& process(Rank rank) { return processes_[at(rank)]; }
  const Process& process(Rank rank) const { return processes_[at(rank)]; }

  void reset(std::span<const Death> deaths);
  void start();
  void end_receives();
  void wake();
  void suspect_dead();
  void start_sends();
  void send(std::size_t count);
  template <bool is_noisy>
  void send_all(std::size_t count);
  void look_as(Rank rank);
  template <typename Handle>
  void handle(Rank rank, const Envelope* current, Handle call);
  void keep(const Envelope& envelope);
  void raise(Rank rank, const Event& event, const Envelope* current);
  void say_with_mailbox(Rank rank, const Event& event, const typename O::Payload* current);
  void set_timer(Process& self, Rank rank);
  void change_timer(Process& self, Rank rank, Time timer);
  Time next_time() const;

  Duration overhead_;
  Duration travel_;  // from the start of a send to the arrival
  Duration spacing_;
  NoiseMean noise_mean_;
  Noise noise_{0, 0};
  std::int32_t procs_;
  std::optional<Duration> detection_;
  Slab<Process> processes_;
  std::vector<Death> deaths_;     // that come, the last one first
  TimeWheel<Envelope> receives_;  // by their ends
  TimeWheel<Rank> timers_;
  SendPorts ports_;
  std::array<PackedMessage, 128> outbox_;  // of those who were asked now
  Mailboxes<typename O::Payload> mailboxes_;
  std::vector<Death> suspicions_;  // that come, the last one first
  std::vector<Rank> suspects_;
  Time now_{};
  Time last_{};     // when something happened
  Context seen_{};  // now_ and suspects_, and the mailbox of the process that acts
  Totals totals_;
  Digest digest_;
  O* observer_ = nullptr;
};

template <Machine M, Observer O>
template <typename Make>
Totals Engine<M, O>::run(Make make, std::span<const Death> deaths, O& observer,
                         std::uint64_t seed) {
  observer_ = &observer;
  noise_ = Noise(noise_mean_, seed);
  reset(deaths);
  processes_.clear();
  for (std::int32_t rank = 0; rank < procs_; ++rank) processes_.push_back({make(rank_at(rank))});
  for (const Death& death : deaths_) process(death.rank).dies = death.at;
  start();
  for (; now_ != never; now_ = next_time()) {
    last_ = now_;
    seen_.now = now_;
    digest_.add(static_cast<std::uint64_t>(now_.ticks));
    end_receives();
    wake();
    suspect_dead();
    for (; !deaths_.empty() && deaths_.back().at <= now_; deaths_.pop_back())
      ports_.close(deaths_.back().rank);
    start_sends();
  }
  totals_.digest = digest_.value();
  return totals_;
}

template <Machine M, Observer O>
void Engine<M, O>::reset(std::span<const Death> deaths) {
  mailboxes_.clear();
  suspects_.clear();
  now_ = Time{};
  seen_ = {};
  totals_ = {};
  digest_ = {};
  ports_.open();
  // Nobody dies twice.
  deaths_.assign(deaths.begin(), deaths.end());
  std::sort(deaths_.begin(), deaths_.end(), [](const Death& a, const Death& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
  });
  const auto is_same = [](const Death& a, const Death& b) { return a.rank == b.rank; };
  deaths_.erase(std::unique(deaths_.begin(), deaths_.end(), is_same), deaths_.end());
  std::sort(deaths_.begin(), deaths_.end(), [](const Death& a, const Death& b) {
    return a.at != b.at ? a.at > b.at : a.rank > b.rank;
  });
  suspicions_.clear();
  if (!detection_) return;
  for (const Death& death : deaths_) suspicions_.push_back({death.rank, death.at + *detection_});
}

template <Machine M, Observer O>
[[gnu::flatten]] void Engine<M, O>::start() {
  for (std::int32_t rank = 0; rank < procs_; ++rank) {
    if (process(rank_at(rank)).dies <= now_) continue;
    handle(rank_at(rank), nullptr, [](M& machine, const Context& c) { machine.start(c); });
  }
}

// Who dies before the end of a receive was found to be dead when the message was sent.
template <Machine M, Observer O>
[[gnu::flatten]] void Engine<M, O>::end_receives() {
  const auto receive = [this](const Envelope& envelope) {
    const Message message = envelope.packed.message();
    observer_->on_receive(now_, message);
    handle(message.to, &envelope, [&](M& machine, const Context& c) {
      if (machine.handle_message(c, message) == Disposition::keep) keep(envelope);
    });
  };
  const auto expect = [processes = processes_.data()](const Envelope& envelope) {
    __builtin_prefetch(&processes[at(envelope.packed.to())], 1);
  };
  if (receives_.drain(now_, receive, expect))
    totals_.quiescence = std::max(totals_.quiescence, now_);
}

template <Machine M, Observer O>
[[gnu::flatten]] void Engine<M, O>::wake() {
  timers_.drain(
      now_,
      [this](Rank rank) {
        if (process(rank).dies <= now_) return;
        handle(rank, nullptr, [](M& machine, const Context& c) { machine.handle_timeout(c); });
      },
      [processes = processes_.data()](Rank rank) { __builtin_prefetch(&processes[at(rank)], 1); });
}

// From now on seen_ is what `rank` may look at, until a message is kept or taken.
template <Machine M, Observer O>
void Engine<M, O>::look_as(Rank rank) {
  if (mailboxes_.exist()) [[unlikely]]
    seen_.mailbox = mailboxes_.view(rank);
}

// Lets the machine of `rank` handle something, and does what it wants then. `current`: the message
// that is handled, if one is. REQUIRES: it is alive.
template <Machine M, Observer O>
template <typename Handle>
void Engine<M, O>::handle(Rank rank, const Envelope* current, Handle call) {
  Process& self = process(rank);
  look_as(rank);
  call(self.machine, seen_);
  while (const auto event = self.machine.poll_event(seen_)) raise(rank, *event, current);
  set_timer(self, rank);
  ports_.want(rank);
}

template <Machine M, Observer O>
[[gnu::noinline]] void Engine<M, O>::keep(const Envelope& envelope) {
  mailboxes_.keep(envelope.packed.message(), envelope.payload);
  look_as(envelope.packed.to());
}

template <Machine M, Observer O>
[[gnu::noinline]] void Engine<M, O>::raise(Rank rank, const Event& event, const Envelope* current) {
  digest_.add(static_cast<std::uint64_t>(index(rank)) << 8 |
              static_cast<std::uint64_t>(event.kind));
  const bool is_current = current != nullptr && current->packed.message() == event.subject;
  const auto* const payload = is_current ? &current->payload : nullptr;
  if (mailboxes_.exist())
    say_with_mailbox(rank, event, payload);
  else
    observer_->on_event(now_, rank, event, payload);
}

template <Machine M, Observer O>
[[gnu::noinline]] void Engine<M, O>::say_with_mailbox(Rank rank, const Event& event,
                                                      const typename O::Payload* current) {
  const auto* const kept = mailboxes_.find(rank, event.subject);
  observer_->on_event(now_, rank, event, kept != nullptr ? kept : current);
  mailboxes_.drop(rank, event);
  look_as(rank);
}

template <Machine M, Observer O>
void Engine<M, O>::set_timer(Process& self, Rank rank) {
  const Time timer = self.machine.poll_timeout(seen_).at;
  if (timer != self.timer) [[unlikely]]
    change_timer(self, rank, timer);
}

template <Machine M, Observer O>
[[gnu::noinline]] void Engine<M, O>::change_timer(Process& self, Rank rank, Time timer) {
  self.timer = timer;
  if (timer != never) timers_.push(now_, std::max(now_, timer), rank);
}

template <Machine M, Observer O>
void Engine<M, O>::suspect_dead() {
  for (; !suspicions_.empty() && suspicions_.back().at <= now_; suspicions_.pop_back()) {
    const Rank suspect = suspicions_.back().rank;
    suspects_.insert(std::lower_bound(suspects_.begin(), suspects_.end(), suspect), suspect);
    seen_.suspects = {suspects_.data(), static_cast<std::uint32_t>(suspects_.size())};
    for (std::int32_t rank = 0; rank < procs_; ++rank) {
      if (process(rank_at(rank)).dies <= now_) continue;
      handle(rank_at(rank), nullptr,
             [&](M& machine, const Context& c) { machine.handle_suspicion(c, suspect); });
    }
  }
}

// Asks first and sends then, a good many at once: meanwhile the receivers come into the cache.
template <Machine M, Observer O>
[[gnu::flatten]] void Engine<M, O>::start_sends() {
  std::size_t count = 0;
  Process* const processes = processes_.data();
  ports_.drain(now_, [this, processes, &count](Rank rank) {
    Process& self = processes[at(rank)];
    __builtin_prefetch(&self + 16, 1);
    look_as(rank);
    const auto message = self.machine.poll_send(seen_);
    if (!message) return false;
    set_timer(self, rank);
    __builtin_prefetch(&processes[at(message->to)], 1);
    outbox_[count++] = PackedMessage(*message);
    if (count == outbox_.size()) [[unlikely]] {
      send(count);
      count = 0;
    }
    return true;
  });
  send(count);
}

// The first `count` of outbox_.
template <Machine M, Observer O>
[[gnu::noinline]] void Engine<M, O>::send(std::size_t count) {
  if (noise_.is_on()) [[unlikely]]
    send_all<true>(count);
  else
    send_all<false>(count);
}

// What the loop needs stands in local variables: of those the compiler knows that no write to a
// process changes them.
template <Machine M, Observer O>
template <bool is_noisy>
[[gnu::flatten, gnu::noinline]] void Engine<M, O>::send_all(std::size_t count) {
  Process* const processes = processes_.data();
  O& observer = *observer_;
  const Time now = now_;
  const Time arrived = now + travel_;
  const Duration overhead = overhead_;
  const Duration spacing = spacing_;
  Digest digest = digest_;
  auto uncontended = receives_.writer(now, arrived + overhead);
  for (std::size_t i = 0; i < count; ++i) {
    const PackedMessage packed = outbox_[i];
    digest.add(packed.route());
    Process& receiver = processes[at(packed.to())];
    const Time begin = std::max(arrived, receiver.receive_free);
    const Duration extra = is_noisy ? noise_.draw() : 0;
    const Time end = begin + overhead + extra;
    if (end >= receiver.dies) [[unlikely]] {
      totals_.quiescence = std::max(totals_.quiescence, arrived);
      observer.on_send(packed.message(), {now, arrived, never});
      continue;
    }
    receiver.receive_free = begin + std::max(spacing, overhead + extra);
    const Envelope envelope{packed, observer.on_send(packed.message(), {now, arrived, end})};
    if (end == uncontended.time())
      uncontended.push(envelope);
    else
      receives_.push(now, end, envelope);
  }
  receives_.close(uncontended);
  digest_ = digest;
  totals_.messages += static_cast<std::int64_t>(count);
}

template <Machine M, Observer O>
Time Engine<M, O>::next_time() const {
  Time next = std::min({receives_.next(now_), ports_.next(now_), timers_.next(now_)});
  if (!suspicions_.empty()) next = std::min(next, suspicions_.back().at);
  return next;
}

}  // namespace resprout::sim
