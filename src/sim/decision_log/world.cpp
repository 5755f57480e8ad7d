// See world.hpp.
#include "sim/decision_log/world.hpp"

#include <algorithm>
#include <optional>

#include "sim/adversary/state_digest.hpp"

namespace resprout::sim {

using protocols::DecisionEvent;
using protocols::DecisionEventKind;
using protocols::DecisionKind;

DecisionLogWorld::DecisionLogWorld(const protocols::DecisionLogConfig& config,
                                   const DecisionLogScene& scene)
    : scene_(scene) {
  for (int rank = 0; rank < config.degree; ++rank)
    processes_.emplace_back(Machine(config, rank_at(rank)));
  for (int rank = 0; rank < config.degree; ++rank) {
    own(rank).machine.start(context(at(rank)));
    drain(rank);
  }
}

std::size_t DecisionLogWorld::first_of(int from, int to) const {
  for (std::size_t i = 0; i < in_flight_.size(); ++i)
    if (index(in_flight_[i].message.from) == from && index(in_flight_[i].message.to) == to)
      return i;
  return in_flight_.size();
}

std::size_t DecisionLogWorld::last_of(int from, int to) const {
  std::size_t i = first_of(from, to);
  while (i + 1 < in_flight_.size() && index(in_flight_[i + 1].message.from) == from &&
         index(in_flight_[i + 1].message.to) == to)
    ++i;
  return i;
}

bool DecisionLogWorld::may_go_on(const Process& process) const {
  if (process.machine.followed() == scene_.decisions) return false;
  return process.machine.may_follow() || process.machine.may_decide(context(process));
}

bool DecisionLogWorld::may_end(const Process& process) const {
  return process.machine.followed() == scene_.decisions && !process.machine.is_finished() &&
         process.machine.is_settled(context(process));
}

// --- what may happen
// ------------------------------------------------------------------------------

void DecisionLogWorld::list_actions(const Mischief& mischief, std::vector<Action>& out) const {
  out.clear();
  const auto add = [&out](ActionKind kind, int a, int b = 0) {
    out.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)});
  };
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    if (!process.is_alive) continue;
    if (mischief.crashes > 0) add(ActionKind::crash, rank);
    if (process.has_left) continue;
    if (may_go_on(process) || may_end(process)) add(ActionKind::wake, rank);
    if (process.wants_to_send) add(ActionKind::send, rank);
    for (int other = 0; other < procs(); ++other) {
      if (other == rank || (process.told >> other & 1) != 0) continue;
      const bool may_slander = mischief.suspects_the_living && mischief.crashes > 0;
      if (at(other).is_doomed || may_slander) add(ActionKind::suspect, rank, other);
    }
  }
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    const int from = index(in_flight_[i].message.from);
    const int to = index(in_flight_[i].message.to);
    if (i == first_of(from, to)) add(ActionKind::deliver, from, to);
    if (mischief.loses_messages && !at(from).is_alive && i == last_of(from, to))
      add(ActionKind::lose, from, to);
  }
}

bool DecisionLogWorld::is_at_rest(const DecisionLogWorld& world,
                                  const std::vector<Action>& actions) {
  return std::all_of(actions.begin(), actions.end(), [&world](const Action& action) {
    return action.kind == ActionKind::crash ||
           (action.kind == ActionKind::suspect && !world.is_doomed(action.b));
  });
}

// --- what happens
// ---------------------------------------------------------------------------------

int DecisionLogWorld::apply(const Action& action) {
  switch (action.kind) {
    case ActionKind::wake:
      go_on(action.a);
      break;
    case ActionKind::deliver:
      deliver(action.a, action.b);
      return action.b;
    case ActionKind::send:
      send(action.a);
      drain(action.a);
      break;
    case ActionKind::suspect:
      suspect(action.a, action.b);
      break;
    case ActionKind::crash:
      crash(action.a);
      break;
    case ActionKind::lose:
      in_flight_.erase(in_flight_.begin() +
                       static_cast<std::ptrdiff_t>(last_of(action.a, action.b)));
      break;
    case ActionKind::enter:
    case ActionKind::corrupt:
    case ActionKind::interrupt:
      break;
  }
  return action.a;
}

// The program of `rank` follows what it knows, or decides, or ends.
void DecisionLogWorld::go_on(int rank) {
  Process& process = own(rank);
  DecisionLogOutcome& outcome = process.outcome;
  if (may_end(process)) {
    process.machine.finish(context(process));
    outcome.has_ended = true;
  } else if (process.machine.may_follow()) {
    const std::uint64_t number = process.machine.follow(context(process));
    if (number != process.machine.followed() || number > outcome.length)
      complain(rank, "follows what it does not know");
  } else {
    const std::uint64_t number = process.machine.decide(context(process));
    if (number != ++outcome.length) complain(rank, "leaves out a decision");
    outcome.log[static_cast<std::size_t>(number - 1)] = static_cast<std::uint8_t>(rank + 1);
  }
  drain(rank);
}

void DecisionLogWorld::deliver(int from, int to) {
  const std::size_t first = first_of(from, to);
  Envelope arrived = in_flight_[first];
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(first));
  Process& process = own(to);
  if (scene_.defect == DecisionLogDefect::promise)
    arrived.message.round = std::max(arrived.message.round,
                                     static_cast<std::uint32_t>(index(process.machine.leader())));
  process.machine.handle_message(context(process), arrived.message);
  while (const auto event = process.machine.poll_event(context(process))) note(to, *event, arrived);
  drain(to);
}

void DecisionLogWorld::deliver_ignored(int rank) {
  std::erase_if(in_flight_, [&](const Envelope& envelope) {
    return index(envelope.message.to) == rank &&
           (at(rank).has_left || suspects(rank, index(envelope.message.from)));
  });
}

void DecisionLogWorld::send(int rank) {
  Process& process = own(rank);
  const auto message = process.machine.poll_send(context(process));
  if (!message) return;
  const int to = index(message->to);
  if (to < 0 || to >= procs() || to == rank || index(message->from) != rank) {
    complain(rank, "sends a message from or to nobody");
    return;
  }
  Envelope envelope{*message, {}};
  for (std::uint64_t i = 0; i < message->count; ++i) {
    const std::uint64_t number = message->first + i;
    if (number <= process.machine.released() || number > process.outcome.length) {
      complain(rank, "sends a decision that it does not hold");
      return;
    }
    envelope.decisions[number - 1] = process.outcome.log[number - 1];
  }
  ++messages_sent_;
  if (scene_.defect == DecisionLogDefect::inquiry && message->kind == DecisionKind::inquiry) {
    answer_without_asking(rank, *message);
    return;
  }
  if (!is_there(to)) return;
  const auto place = std::upper_bound(
      in_flight_.begin(), in_flight_.end(), envelope, [](const Envelope& a, const Envelope& b) {
        return std::pair{a.message.to, a.message.from} < std::pair{b.message.to, b.message.from};
      });
  in_flight_.insert(place, envelope);
}

// Under the defect `inquiry`: it believes that the other one knows what it knows itself.
void DecisionLogWorld::answer_without_asking(int rank, const Message& inquiry) {
  Process& process = own(rank);
  process.machine.handle_message(context(process), {.from = inquiry.to,
                                                    .to = inquiry.from,
                                                    .kind = DecisionKind::answer,
                                                    .round = inquiry.round,
                                                    .first = inquiry.length + 1,
                                                    .count = 0,
                                                    .length = inquiry.length,
                                                    .released = 0});
}

void DecisionLogWorld::suspect(int rank, int other) {
  own(other).is_doomed = true;
  Process& process = own(rank);
  process.told |= 1U << other;
  if (scene_.defect == DecisionLogDefect::suspicions) return;
  process.suspects.push_back(rank_at(other));
  std::sort(process.suspects.begin(), process.suspects.end());
  process.machine.handle_suspicion(context(process), rank_at(other));
  drain(rank);
}

void DecisionLogWorld::crash(int rank) {
  Process& process = own(rank);
  process.is_alive = false;
  process.is_doomed = true;
  std::erase_if(in_flight_,
                [rank](const Envelope& envelope) { return index(envelope.message.to) == rank; });
}

// --- what the machines say
// ------------------------------------------------------------------------

void DecisionLogWorld::drain(int rank) {
  Process& process = own(rank);
  while (const auto event = process.machine.poll_event(context(process))) note(rank, *event, {});
  DecisionLogOutcome& outcome = process.outcome;
  const bool is_shown =
      scene_.defect == DecisionLogDefect::settling || process.machine.is_settled(context(process));
  if (is_shown) outcome.shown = process.machine.followed();
  outcome.held_max = std::max(outcome.held_max, outcome.length - process.machine.released());
  const auto wants_to_send = [&process] {
    Machine copy = process.machine;
    return copy.poll_send(context(process)).has_value();
  };
  if (scene_.sends_at_once)
    while (wants_to_send() && violation_.empty()) send(rank);
  process.wants_to_send = wants_to_send();
  if (outcome.has_ended && !process.wants_to_send) process.has_left = true;
}

void DecisionLogWorld::note(int rank, const DecisionEvent& event, const Envelope& arrived) {
  Process& process = own(rank);
  if (event.kind != DecisionEventKind::learn) return;
  const Message& message = arrived.message;
  const bool has_come = event.first >= message.first && event.last < message.first + message.count;
  if (!has_come || event.first != process.outcome.length + 1) {
    complain(rank, "learns what has not come");
    return;
  }
  for (std::uint64_t number = event.first; number <= event.last; ++number)
    process.outcome.log[number - 1] = arrived.decisions[number - 1];
  process.outcome.length = event.last;
}

std::vector<DecisionLogOutcome> DecisionLogWorld::outcomes() const {
  std::vector<DecisionLogOutcome> outcomes;
  for (const Process& process : processes_) {
    outcomes.push_back(process.outcome);
    outcomes.back().is_survivor = process.is_alive && !process.is_doomed;
  }
  return outcomes;
}

// --- for the explorer
// -----------------------------------------------------------------------------

std::string DecisionLogWorld::describe(const Action& action) const {
  static constexpr const char* kinds[] = {"decisions", "an inquiry", "an answer",
                                          "an acknowledgment", "a farewell"};
  const std::string a = std::to_string(action.a);
  const std::string b = std::to_string(action.b);
  const auto text_of = [](const Message& message) {
    std::string text = kinds[static_cast<int>(message.kind)];
    if (message.count == 0) return text + " (knows " + std::to_string(message.length) + ")";
    return text + " " + std::to_string(message.first) + " to " +
           std::to_string(message.first + message.count - 1);
  };
  switch (action.kind) {
    case ActionKind::wake: {
      const Process& process = at(action.a);
      if (may_end(process)) return a + " ends";
      const std::string next = std::to_string(process.machine.followed() + 1);
      return a + (process.machine.may_follow() ? " follows " : " decides ") + next;
    }
    case ActionKind::deliver:
      return b + " receives from " + a + ": " +
             text_of(in_flight_[first_of(action.a, action.b)].message);
    case ActionKind::send: {
      Machine copy = at(action.a).machine;
      const auto message = copy.poll_send(context(at(action.a)));
      return a + " sends to " + std::to_string(index(message->to)) + ": " + text_of(*message);
    }
    case ActionKind::suspect:
      return a + " suspects " + b + (at(action.b).is_alive ? ", which still runs" : "");
    case ActionKind::crash:
      return a + " dies";
    case ActionKind::lose:
      return "the last message from " + a + " to " + b + " is lost";
    case ActionKind::enter:
    case ActionKind::corrupt:
    case ActionKind::interrupt:
      break;
  }
  return "?";
}

std::pair<std::uint64_t, std::uint64_t> DecisionLogWorld::digest() const {
  StateDigest digest;
  for (const Process& process : processes_) {
    const DecisionLogOutcome& outcome = process.outcome;
    digest.add(process.is_alive | process.is_doomed << 1 | process.has_left << 2 |
               outcome.has_ended << 3 | std::uint64_t{process.told} << 8);
    digest.add(outcome.length << 40 | outcome.shown << 20 | outcome.held_max);
    digest.add_bytes(outcome.log);
    if (process.is_alive && !process.has_left) digest.add_bytes(process.machine);
  }
  for (const Envelope& envelope : in_flight_) digest.add_bytes(envelope);
  return digest.value();
}

}  // namespace resprout::sim
