// World, first half: what may happen next, what has happened, and when two worlds are the same.
// Included by world.hpp.
// Thread rule: as World.
#pragma once

#include "sim/adversary/state_digest.hpp"
#include "sim/adversary/world.hpp"

namespace resprout::sim {

template <Machine M>
void World<M>::list_actions(const Mischief& mischief, std::vector<Action>& out) const {
  out.clear();
  const auto add = [&out](ActionKind kind, int a, int b = 0) {
    out.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)});
  };
  std::uint64_t suspectable = 0;
  const bool may_slander = mischief.suspects_the_living && mischief.crashes > 0;
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& victim = at(rank);
    const bool is_due = victim.is_doomed && (mischief.suspects_the_living || !victim.is_alive);
    if (is_due || may_slander) suspectable |= std::uint64_t{1} << rank;
  }
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    if (!process.is_alive) continue;
    if (process.is_doomed || mischief.crashes > 0) add(ActionKind::crash, rank);
    std::uint64_t others = suspectable & ~(std::uint64_t{1} << rank);
    for (const Rank suspect : process.suspects) others &= ~(std::uint64_t{1} << index(suspect));
    for (; others != 0; others &= others - 1)
      add(ActionKind::suspect, rank, std::countr_zero(others));
    if (!process.has_entered) {
      add(ActionKind::enter, rank);
      continue;
    }
    if (may_call(rank)) add(ActionKind::enter, rank);
    if (process.wants_to_send) add(ActionKind::send, rank);
    if (process.deadline != never) add(ActionKind::wake, rank);
  }
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    const Message& message = in_flight_[i].message;
    const auto is_of_other_channel = [&](std::size_t other) {
      return other >= in_flight_.size() || in_flight_[other].message.from != message.from ||
             in_flight_[other].message.to != message.to;
    };
    const int from = index(message.from);
    const int to = index(message.to);
    if (at(to).has_entered && (i == 0 || is_of_other_channel(i - 1)))
      add(ActionKind::deliver, from, to);
    if (mischief.loses_messages && !at(from).is_alive && is_of_other_channel(i + 1))
      add(ActionKind::lose, from, to);
  }
}

template <Machine M>
bool World<M>::may_call(int rank) const {
  if constexpr (CalledMachine<M>) return !at(rank).machine.has_called() && (away_ >> rank & 1) == 0;
  return false;
}

template <Machine M>
bool World<M>::is_at_rest(const World& world, const std::vector<Action>& actions) {
  return std::all_of(actions.begin(), actions.end(), [&world](const Action& action) {
    const bool is_crash = action.kind == ActionKind::crash && !world.is_doomed(action.a);
    const bool is_slander = action.kind == ActionKind::suspect && !world.is_doomed(action.b);
    return is_crash || is_slander;
  });
}

template <Machine M>
std::string World<M>::describe(const Action& action) const {
  static constexpr const char* kinds[] = {
      "tree",   "correction", "pull",           "supply",    "contribution",
      "result", "heartbeat",  "acknowledgment", "keepalive", "revocation"};
  static constexpr const char* slots[] = {"nothing", "input", "accumulator", "result"};
  const std::string a = std::to_string(action.a);
  const std::string b = std::to_string(action.b);
  const auto text_of = [](const Message& message) {
    std::string text = kinds[static_cast<int>(message.kind)];
    text += " of round " + std::to_string(message.round) + " with ";
    text += slots[static_cast<int>(message.slot)];
    if (message.tag != 0) text += ", tag " + std::to_string(message.tag);
    return text;
  };
  switch (action.kind) {
    case ActionKind::enter:
      return a + (at(action.a).has_entered ? " makes its call" : " enters");
    case ActionKind::deliver:
      return b + " receives from " + a + ": " + text_of(channel(action.a, action.b).first->message);
    case ActionKind::send: {
      M copy = at(action.a).machine;
      const auto message = copy.poll_send(context(at(action.a)));
      return a + " sends to " + std::to_string(index(message->to)) + ": " + text_of(*message);
    }
    case ActionKind::wake:
      return a + " is woken at its deadline";
    case ActionKind::suspect:
      return a + " suspects " + b + (at(action.b).is_alive ? ", which still runs" : "");
    case ActionKind::crash:
      return a + " dies";
    case ActionKind::lose:
      return "the last message from " + a + " to " + b + " is lost";
    case ActionKind::corrupt:
    case ActionKind::interrupt:
      break;
  }
  return "?";
}

template <Machine M>
std::vector<Outcome> World<M>::outcomes() const {
  std::vector<Outcome> outcomes(processes_.size());
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    Outcome& outcome = outcomes[static_cast<std::size_t>(position(rank_at(rank)))];
    outcome = {!process.is_doomed, process.delivered, process.failed, process.result};
    if constexpr (CalledMachine<M>) outcome.is_late = process.machine.is_late();
  }
  return outcomes;
}

template <Machine M>
std::pair<std::uint64_t, std::uint64_t> World<M>::digest_of(const Process& process) {
  StateDigest digest;
  const std::uint64_t flags = process.is_alive | process.is_doomed << 1 | process.has_entered << 2 |
                              process.delivered << 8 | process.failed << 16;
  digest.add(flags);
  if (!process.is_alive) return digest.value();
  digest.add_bytes(process.machine);
  digest.add(process.accumulator);
  digest.add(process.result);
  digest.add(process.told);
  std::uint64_t suspects = 0;
  for (const Rank suspect : process.suspects) suspects |= std::uint64_t{1} << index(suspect);
  digest.add(suspects);
  for (std::size_t i = 0; i < process.mailbox.size(); ++i) {
    digest.add_bytes(process.mailbox[i]);
    digest.add(process.kept[i]);
  }
  return digest.value();
}

template <Machine M>
std::pair<std::uint64_t, std::uint64_t> World<M>::digest() const {
  StateDigest digest;
  digest.add(static_cast<std::uint64_t>(now_.ticks));
  for (const auto& process : processes_) {
    if (!process->digest) process->digest = digest_of(*process);
    digest.add(*process->digest);
  }
  for (const Envelope& envelope : in_flight_) {
    digest.add_bytes(envelope.message);
    digest.add(envelope.payload);
  }
  return digest.value();
}

}  // namespace resprout::sim
