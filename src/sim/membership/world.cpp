// See world.hpp.
#include "sim/membership/world.hpp"

#include <algorithm>
#include <cstring>

#include "sim/adversary/state_digest.hpp"

namespace resprout::sim {
namespace {

// Takes all that the machine has to say; hands each message to `f`.
template <typename Machine, typename F>
void run_dry(Machine& machine, F f) {
  while (machine.poll_event()) {
  }
  while (const auto message = machine.poll_send()) f(*message);
}

template <typename Machine>
bool is_same(const Machine& a, const Machine& b) {
  return std::memcmp(&a, &b, sizeof(Machine)) == 0;
}

}  // namespace

template <typename V>
MembershipWorldOf<V>::MembershipWorldOf(const protocols::MembershipConfig& config,
                                        const MembershipScene& scene)
    : config_(&config), scene_(scene), returns_left_(scene.returns) {
  const int procs = scene.founders + scene.joiners;
  founders_ = protocols::IdSet<1>::first(procs);
  for (int i = 0; i < scene.joiners; ++i)
    founders_.remove(rank_at(scene.joins_low ? i : procs - 1 - i));
  if constexpr (V::is_local) book_->emplace(V::tally_of(founders_).digest, founders_);
  for (int id = 0; id < procs; ++id) {
    const Rank self = rank_at(id);
    processes_.push_back(std::make_shared<Process>(founders_.contains(self)
                                                       ? V::founder(config, self, founders_)
                                                       : V::joiner(config, self, founders_)));
  }
  founders_.for_each([this](Rank founder) { enter(index(founder)); });
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
    if (!process.is_alive && V::is_local && process.has_entered && returns_left_ > 0)
      add(ActionKind::enter, rank);
    if (!process.is_alive) continue;
    if (may_retry(rank) || may_probe(rank)) add(ActionKind::wake, rank);
    if (mischief.crashes > 0) add(ActionKind::crash, rank);
    if (!process.has_entered) {
      add(ActionKind::enter, rank);
      continue;
    }
    for (int other = 0; other < procs(); ++other) {
      if (other == rank || (!V::is_local && !at(other).has_entered)) continue;
      const bool may_slander = mischief.suspects_the_living && mischief.crashes > 0;
      if ((is_due(rank, other) || may_slander) &&
          process.machine.would_heed(rank_at(other), evidence_for(rank, other)))
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
           (action.kind == ActionKind::enter && !world.is_alive(action.a)) ||
           (action.kind == ActionKind::suspect && !world.is_due(action.a, action.b));
  });
}

// Whether `rank` has to be told that `suspected` does not answer.
template <typename V>
bool MembershipWorldOf<V>::is_due(int rank, int suspected) const {
  const Process& other = at(suspected);
  return other.is_doomed || (V::is_local && !other.has_entered) ||
         other.unaware.contains(rank_at(rank));
}

// What `rank` is told of it: of who has come back that it had died, for there was a predecessor.
template <typename V>
protocols::Evidence MembershipWorldOf<V>::evidence_for(int rank, int suspected) const {
  return at(suspected).unaware.contains(rank_at(rank)) ? protocols::Evidence::death
                                                       : evidence_of(suspected);
}

template <typename V>
bool MembershipWorldOf<V>::is_quiet_between(int a, int b) const {
  return first_of(a, b) == in_flight_.size() && first_of(b, a) == in_flight_.size();
}

// Rule 6.
template <typename V>
bool MembershipWorldOf<V>::may_probe(int rank) const {
  const Machine& machine = at(rank).machine;
  if (!scene_.probes || !at(rank).has_entered || at(rank).wants_to_send) return false;
  if (!machine.is_member() || !machine.is_isolated()) return false;
  Machine prober = machine;
  prober.handle_timeout({0});
  bool is_news = false;
  std::vector<Message> probes;
  run_dry(prober, [&probes](const Message& message) { probes.push_back(message); });
  for (const Message& probe : probes) {
    const int to = index(probe.to);
    if (at(to).is_alive && at(to).has_entered && is_quiet_between(rank, to))
      is_news = is_news || is_probe_news(prober, probe);
  }
  return is_news;
}

// Whether the probe, or what is answered to it, changes one of the two.
template <typename V>
bool MembershipWorldOf<V>::is_probe_news(Machine prober, const Message& probe) const {
  Machine probed = at(index(probe.to)).machine;
  // Who listens to it no more in this very view does not answer.
  if (probed.is_member() && probed.view().epoch == probe.view.epoch &&
      !probed.may_receive(probe.from, probe.view.epoch))
    return false;
  const Machine prober_before = prober;
  run_dry(probed, [](const Message&) {});
  const Machine probed_before = probed;
  probed.handle_message({0}, probe);
  run_dry(probed, [&](const Message& answer) {
    if (answer.to == probe.from) prober.handle_message({0}, answer);
  });
  run_dry(prober, [](const Message&) {});
  return !is_same(probed, probed_before) || !is_same(prober, prober_before);
}

// Whether it has asked everybody in vain, and would not now: time passes.
template <typename V>
bool MembershipWorldOf<V>::may_retry(int rank) const {
  if constexpr (V::is_local) {
    const Machine& machine = at(rank).machine;
    if (!at(rank).has_entered || machine.standing() != Machine::Standing::joining) return false;
    return !machine.has_asked() && has_contact(rank);
  }
  return false;
}

// Whether a joiner knows of a member that stays one. With whole views it is told of one.
template <typename V>
bool MembershipWorldOf<V>::has_contact(int rank) const {
  if constexpr (V::is_local) {
    for (int other = 0; other < procs(); ++other)
      if (other != rank && at(other).is_alive && !at(other).is_doomed && at(other).has_entered &&
          at(other).machine.is_member() && at(rank).machine.may_ask(rank_at(other)))
        return true;
    return false;
  }
  return true;
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
      if (!is_due(action.a, action.b)) own(action.b).is_doomed = true;
      suspect(action.a, action.b);
      break;
    case ActionKind::crash:
      crash(action.a);
      break;
    case ActionKind::wake:
      own(action.a).machine.handle_timeout({0});
      drain(action.a);
      break;
    case ActionKind::lose:
      in_flight_.erase(in_flight_.begin() +
                       static_cast<std::ptrdiff_t>(last_of(action.a, action.b)));
      break;
    case ActionKind::corrupt:
    case ActionKind::interrupt:
      break;
  }
  return action.a;
}

template <typename V>
void MembershipWorldOf<V>::suspect(int rank, int suspected) {
  const protocols::Evidence evidence = evidence_for(rank, suspected);
  own(suspected).unaware.remove(rank_at(rank));
  own(rank).machine.handle_suspicion({0}, rank_at(suspected), evidence);
  drain(rank);
}

template <typename V>
void MembershipWorldOf<V>::enter(int rank) {
  if (!at(rank).is_alive) {
    for (int other = 0; other < procs(); ++other)
      if (other != rank && at(other).is_alive && at(other).has_entered)
        own(rank).unaware.add(rank_at(other));
    std::erase_if(in_flight_, [rank](const auto& message) { return index(message.from) == rank; });
    own(rank).is_alive = own(rank).has_died = true;
    --returns_left_;
    come_back(rank);
    return;
  }
  Process& process = own(rank);
  process.has_entered = true;
  process.machine.start({0});
  drain(rank);
}

// As somebody new, who asks anybody.
template <typename V>
void MembershipWorldOf<V>::come_back(int rank) {
  Process& process = own(rank);
  protocols::IdSet<1> others = protocols::IdSet<1>::first(procs());
  others.remove(rank_at(rank));
  process.machine = V::joiner(*config_, rank_at(rank), others);
  process.view = {};
  process.installed.clear();
  process.is_doomed = false;
  enter(rank);
}

template <typename V>
void MembershipWorldOf<V>::deliver(int from, int to) {
  const std::size_t first = first_of(from, to);
  const Message message = in_flight_[first];
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(first));
  if (at(from).unaware.contains(rank_at(to))) suspect(to, from);
  const auto is_heard = [&] {
    return at(to).machine.may_receive(message.from, message.view.epoch);
  };
  const bool was_heard = is_heard();
  own(to).machine.handle_message({0}, message);
  if (V::is_probe(message) && was_heard && at(to).machine.is_member() && !is_heard())
    own(from).is_doomed = true;
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
  if (scene_.defect == MembershipDefect::fence) V::forget_fences(*message);
  const int to = index(message->to);
  if (to < 0 || to >= procs() || to == rank || index(message->from) != rank) {
    complain(rank, "sends a message from or to nobody");
    return;
  }
  if constexpr (V::is_local)
    if (at(rank).is_doomed && message->kind == protocols::LocalKind::join) {
      crash(rank);
      return;
    }
  ++messages_sent_;
  if (!at(to).is_alive) return;
  if (V::is_local && !at(to).has_entered) {
    own(to).unaware.add(rank_at(rank));
    return;
  }
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
  while (const auto event = process.machine.poll_event()) {
    if constexpr (V::is_local)
      if (event->kind == protocols::LocalEventKind::enter)
        own(index(event->about)).unaware.remove(rank_at(rank));
    if (V::follow(process.machine, *event, process.view, *book_)) note_install(rank);
  }
  for (int other = 0; other < procs(); ++other) {
    check_same_view(rank, other);
    check_same_view(other, rank);
  }
  const auto wants_to_send = [&process] {
    Machine copy = process.machine;
    return copy.poll_send().has_value();
  };
  if (scene_.sends_at_once)
    while (process.is_alive && wants_to_send() && violation_.empty()) send(rank);
  process.wants_to_send = process.is_alive && wants_to_send();
  const bool is_out = process.is_alive && process.machine.standing() == Machine::Standing::excluded;
  // Who was taken for who it was before may come back as often as that happens.
  const bool is_free = scene_.returns > 0 && !process.is_doomed;
  if (V::is_local && is_out && !process.wants_to_send && (is_free || returns_left_ > 0)) {
    if (!is_free) --returns_left_;
    come_back(rank);
  }
}

template <typename V>
void MembershipWorldOf<V>::note_install(int rank) {
  // Who has just come in has met nobody's predecessor.
  if (at(rank).installed.empty())
    for (int other = 0; other < procs(); ++other) own(other).unaware.remove(rank_at(rank));
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
bool MembershipWorldOf<V>::would_receive(int rank, int from, std::uint64_t epoch) const {
  if (scene_.defect == MembershipDefect::view)
    return at(rank).machine.is_member() && at(rank).view.members.contains(rank_at(from));
  return at(rank).machine.may_receive(rank_at(from), epoch);
}

template <typename V>
void MembershipWorldOf<V>::check_same_view(int receiver, int sender) {
  if (sender == receiver || at(receiver).installed.empty()) return;
  for (const protocols::View<1>& said_in : at(sender).installed)
    if (said_in != at(receiver).view && would_receive(receiver, sender, said_in.epoch))
      complain(receiver, "would receive from process " + std::to_string(sender) +
                             " what was said in another view, of epoch " +
                             std::to_string(said_in.epoch));
}

template <typename V>
std::vector<MembershipOutcome> MembershipWorldOf<V>::outcomes() const {
  std::vector<MembershipOutcome> outcomes;
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    const bool is_joining = process.machine.standing() == Machine::Standing::joining;
    // Whose contacts are all gone cannot come in.
    const bool is_stranded = is_joining && !has_contact(rank);
    const bool has_died = !process.is_alive || (is_joining && process.has_died);
    // Of who is suspected after its return: it depends on whether its neighbors were told before.
    const bool is_unclear = process.is_alive && process.is_doomed;
    outcomes.push_back(
        {process.is_alive && process.has_entered && !process.is_doomed && !is_stranded,
         process.machine.is_member(), process.machine.is_isolated(), is_joining,
         scene_.proves && has_died && !is_unclear, scene_.proves && has_died && is_unclear,
         process.view});
  }
  return outcomes;
}

template <typename V>
std::string MembershipWorldOf<V>::describe(const Action& action) const {
  const std::string a = std::to_string(action.a);
  const std::string b = std::to_string(action.b);
  switch (action.kind) {
    case ActionKind::enter:
      return a + (at(action.a).is_alive ? " enters" : " comes back");
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
      return a + (at(action.a).machine.is_member() ? " probes" : " asks again");
    case ActionKind::corrupt:
    case ActionKind::interrupt:
      break;
  }
  return "?";
}

template <typename V>
std::pair<std::uint64_t, std::uint64_t> MembershipWorldOf<V>::digest() const {
  StateDigest digest;
  digest.add(static_cast<std::uint64_t>(returns_left_));
  for (const auto& process : processes_) {
    if (!process->digest) {
      StateDigest own;
      own.add(process->is_alive | process->is_doomed << 1 | process->has_entered << 2 |
              process->has_died << 3);
      if (process->is_alive) own.add_bytes(process->machine);
      own.add_bytes(process->view);
      own.add_bytes(process->unaware);
      for (const auto& view : process->installed) own.add_bytes(view);
      process->digest = own.value();
    }
    digest.add(*process->digest);
  }
  for (const Message& message : in_flight_) digest.add_bytes(message);
  return digest.value();
}

template class MembershipWorldOf<WholeViews>;
template class MembershipWorldOf<LocalViews<8>>;
template class MembershipWorldOf<LocalViews<64>>;

}  // namespace resprout::sim
