// See world.hpp.
#include "sim/membership/world.hpp"

#include <algorithm>

namespace resprout::sim {

template <typename V>
MembershipWorldOf<V>::MembershipWorldOf(const protocols::MembershipConfig& config,
                                        const MembershipScene& scene)
    : scene_(scene) {
  const int procs = scene.founders + scene.joiners;
  auto founders = protocols::IdSet<1>::first(procs);
  for (int i = 0; i < scene.joiners; ++i)
    founders.remove(rank_at(scene.joins_low ? i : procs - 1 - i));
  for (int id = 0; id < procs; ++id) {
    const Rank self = rank_at(id);
    if (founders.contains(self))
      processes_.push_back(std::make_shared<Process>(V::founder(config, self, founders)));
    else if constexpr (V::has_joiners)
      processes_.push_back(std::make_shared<Process>(V::joiner(config, self, founders)));
  }
  founders.for_each([this](Rank founder) { enter(index(founder)); });
}

template <typename V>
typename MembershipWorldOf<V>::Process& MembershipWorldOf<V>::own(int rank) {
  std::shared_ptr<Process>& process = processes_[static_cast<std::size_t>(rank)];
  if (process.use_count() > 1) process = std::make_shared<Process>(*process);
  process->digest.reset();
  return *process;
}

template <typename V>
std::size_t MembershipWorldOf<V>::first_of(int from, int to) const {
  for (std::size_t i = 0; i < in_flight_.size(); ++i)
    if (index(in_flight_[i].from) == from && index(in_flight_[i].to) == to) return i;
  return in_flight_.size();
}

template <typename V>
std::size_t MembershipWorldOf<V>::last_of(int from, int to) const {
  std::size_t i = first_of(from, to);
  while (i + 1 < in_flight_.size() && index(in_flight_[i + 1].from) == from &&
         index(in_flight_[i + 1].to) == to)
    ++i;
  return i;
}

template <typename V>
void MembershipWorldOf<V>::list_actions(const Mischief& mischief, std::vector<Action>& out) const {
  out.clear();
  const auto add = [&out](ActionKind kind, int a, int b = 0) {
    out.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)});
  };
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    if (!process.is_alive) continue;
    if (mischief.crashes > 0) add(ActionKind::crash, rank);
    if (!process.has_entered) {
      add(ActionKind::enter, rank);
      continue;
    }
    for (int other = 0; other < procs(); ++other) {
      if (other == rank || !at(other).has_entered) continue;
      const bool is_due = at(other).is_doomed;
      const bool may_slander = mischief.suspects_the_living && mischief.crashes > 0;
      if ((is_due || may_slander) && process.machine.would_heed(rank_at(other), evidence_of(other)))
        add(ActionKind::suspect, rank, other);
    }
    if (process.wants_to_send) add(ActionKind::send, rank);
  }
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    const Message& message = in_flight_[i];
    const auto is_of_other_channel = [&](std::size_t other) {
      return other >= in_flight_.size() || in_flight_[other].from != message.from ||
             in_flight_[other].to != message.to;
    };
    const int from = index(message.from);
    const int to = index(message.to);
    if (at(to).has_entered && (i == 0 || is_of_other_channel(i - 1)))
      add(ActionKind::deliver, from, to);
    if (mischief.loses_messages && !at(from).is_alive && is_of_other_channel(i + 1))
      add(ActionKind::lose, from, to);
  }
}

template <typename V>
bool MembershipWorldOf<V>::is_at_rest(const MembershipWorldOf& world,
                                      const std::vector<Action>& actions) {
  return std::all_of(actions.begin(), actions.end(), [&world](const Action& action) {
    return action.kind == ActionKind::crash ||
           (action.kind == ActionKind::suspect && !world.is_doomed(action.b));
  });
}

template <typename V>
int MembershipWorldOf<V>::apply(const Action& action) {
  switch (action.kind) {
    case ActionKind::enter:
      enter(action.a);
      break;
    case ActionKind::deliver:
      deliver(action.a, action.b);
      return action.b;
    case ActionKind::send:
      send(action.a);
      drain(action.a);
      break;
    case ActionKind::suspect:
      own(action.b).is_doomed = true;
      own(action.a).machine.handle_suspicion({0}, rank_at(action.b), evidence_of(action.b));
      drain(action.a);
      break;
    case ActionKind::crash:
      crash(action.a);
      break;
    case ActionKind::lose:
      in_flight_.erase(in_flight_.begin() +
                       static_cast<std::ptrdiff_t>(last_of(action.a, action.b)));
      break;
    case ActionKind::wake:
    case ActionKind::corrupt:
      break;
  }
  return action.a;
}

template <typename V>
void MembershipWorldOf<V>::enter(int rank) {
  Process& process = own(rank);
  process.has_entered = true;
  process.machine.start({0});
  drain(rank);
}

template <typename V>
void MembershipWorldOf<V>::deliver(int from, int to) {
  const std::size_t first = first_of(from, to);
  const Message message = in_flight_[first];
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(first));
  own(to).machine.handle_message({0}, message);
  drain(to);
}

template <typename V>
void MembershipWorldOf<V>::deliver_ignored(int rank) {
  std::erase_if(in_flight_, [&](const Message& message) {
    if (index(message.to) != rank) return false;
    return V::is_ignored(at(rank).machine, message);
  });
}

template <typename V>
void MembershipWorldOf<V>::send(int rank) {
  auto message = own(rank).machine.poll_send();
  if (!message) return;
  if (scene_.defect == MembershipDefect::fence && V::is_proposal(*message)) message->fenced = {};
  const int to = index(message->to);
  if (to < 0 || to >= procs() || to == rank || index(message->from) != rank) {
    complain(rank, "sends a message from or to nobody");
    return;
  }
  ++messages_sent_;
  if (!at(to).is_alive) return;
  const auto place = std::upper_bound(in_flight_.begin(), in_flight_.end(), *message,
                                      [](const Message& a, const Message& b) {
                                        return std::pair{a.to, a.from} < std::pair{b.to, b.from};
                                      });
  in_flight_.insert(place, *message);
}

template <typename V>
void MembershipWorldOf<V>::crash(int rank) {
  Process& process = own(rank);
  process.is_alive = false;
  process.is_doomed = true;
  process.view = {};
  process.installed.clear();
  std::erase_if(in_flight_, [rank](const Message& message) { return index(message.to) == rank; });
}

template <typename V>
void MembershipWorldOf<V>::drain(int rank) {
  Process& process = own(rank);
  while (const auto event = process.machine.poll_event())
    if (V::follow(process.machine, *event, process.view)) note_install(rank);
  const auto wants_to_send = [&process] {
    Machine copy = process.machine;
    return copy.poll_send().has_value();
  };
  if (scene_.sends_at_once)
    while (wants_to_send() && violation_.empty()) send(rank);
  process.wants_to_send = wants_to_send();
}

template <typename V>
void MembershipWorldOf<V>::note_install(int rank) {
  const protocols::View<1> view = at(rank).view;
  if (!V::is_true(at(rank).machine, view)) complain(rank, "miscounts the members of its view");
  if (!view.members.contains(rank_at(rank))) complain(rank, "installs a view that it is not in");
  auto& installed = own(rank).installed;
  if (!installed.empty() && view.epoch <= installed.back().epoch)
    complain(rank, "goes back to epoch " + std::to_string(view.epoch));
  for (int other = 0; other < procs(); ++other)
    for (const protocols::View<1>& theirs : at(other).installed)
      if (theirs.epoch == view.epoch && theirs != view)
        complain(rank, "and process " + std::to_string(other) + " have different views in epoch " +
                           std::to_string(view.epoch));
  installed.push_back(view);
}

template <typename V>
std::vector<MembershipOutcome> MembershipWorldOf<V>::outcomes() const {
  std::vector<MembershipOutcome> outcomes;
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    outcomes.push_back({process.is_alive && process.has_entered && !process.is_doomed,
                        process.machine.is_member(), process.machine.is_isolated(),
                        scene_.proves && !process.is_alive, process.view});
  }
  return outcomes;
}

template <typename V>
std::string MembershipWorldOf<V>::describe(const Action& action) const {
  const std::string a = std::to_string(action.a);
  const std::string b = std::to_string(action.b);
  switch (action.kind) {
    case ActionKind::enter:
      return a + " enters";
    case ActionKind::deliver:
      return b + " receives from " + a + ": " +
             V::describe(in_flight_[first_of(action.a, action.b)]);
    case ActionKind::send: {
      Machine copy = at(action.a).machine;
      const auto message = copy.poll_send();
      return a + " sends to " + std::to_string(index(message->to)) + ": " + V::describe(*message);
    }
    case ActionKind::suspect:
      return a + " suspects " + b + (at(action.b).is_alive ? ", which still runs" : "");
    case ActionKind::crash:
      return a + " dies";
    case ActionKind::lose:
      return "the last message from " + a + " to " + b + " is lost";
    case ActionKind::wake:
    case ActionKind::corrupt:
      break;
  }
  return "?";
}

template <typename V>
std::pair<std::uint64_t, std::uint64_t> MembershipWorldOf<V>::digest() const {
  StateDigest digest;
  for (const auto& process : processes_) {
    if (!process->digest) {
      StateDigest own;
      own.add(process->is_alive | process->is_doomed << 1 | process->has_entered << 2);
      if (process->is_alive) own.add_bytes(process->machine);
      own.add_bytes(process->view);
      for (const auto& view : process->installed) own.add_bytes(view);
      process->digest = own.value();
    }
    digest.add(process->digest->first);
    digest.add(process->digest->second);
  }
  for (const Message& message : in_flight_) digest.add_bytes(message);
  return digest.value();
}

template class MembershipWorldOf<WholeViews>;
template class MembershipWorldOf<LocalViews<8>>;
template class MembershipWorldOf<LocalViews<64>>;

}  // namespace resprout::sim
