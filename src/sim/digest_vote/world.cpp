// See world.hpp.
#include "sim/digest_vote/world.hpp"

#include <algorithm>

#include "sim/adversary/state_digest.hpp"

namespace resprout::sim {

using protocols::Share;
using protocols::VoteEvent;
using protocols::VoteEventKind;
using protocols::VoteKind;

namespace {

constexpr std::uint64_t right = 64;

constexpr std::uint64_t spoil(std::uint64_t digest, int origin) {
  return digest ^ (std::uint64_t{1} << origin);
}

std::string name_of(int rank, int degree) {
  return (rank < degree ? "s" : "d") + std::to_string(rank % degree);
}

}  // namespace

DigestVoteWorld::DigestVoteWorld(const protocols::DigestVoteConfig& config,
                                 const DigestVoteScene& scene)
    : config_(&config), scene_(scene) {
  for (int rank = 0; rank < config.procs(); ++rank)
    processes_.push_back(std::make_shared<Process>(Machine(config, rank_at(rank), right)));
}

DigestVoteWorld::Process& DigestVoteWorld::own(int rank) {
  std::shared_ptr<Process>& process = processes_[static_cast<std::size_t>(rank)];
  if (process.use_count() > 1) process = std::make_shared<Process>(*process);
  process->digest.reset();
  return *process;
}

std::size_t DigestVoteWorld::first_of(int from, int to) const {
  for (std::size_t i = 0; i < in_flight_.size(); ++i)
    if (index(in_flight_[i].from) == from && index(in_flight_[i].to) == to) return i;
  return in_flight_.size();
}

std::size_t DigestVoteWorld::last_of(int from, int to) const {
  std::size_t i = first_of(from, to);
  while (i + 1 < in_flight_.size() && index(in_flight_[i + 1].from) == from &&
         index(in_flight_[i + 1].to) == to)
    ++i;
  return i;
}

bool DigestVoteWorld::is_settled(int receiver) const {
  for (int sender = 0; sender < config_->degree; ++sender)
    if (config_->share(sender, receiver % config_->degree) != Share::none &&
        (at(receiver).shares_in >> sender & 1) == 0 && (at(receiver).told >> sender & 1) == 0)
      return false;
  return true;
}

// --- what may happen
// ------------------------------------------------------------------------------

void DigestVoteWorld::list_actions(const Mischief& mischief, std::vector<Action>& out) const {
  out.clear();
  const auto add = [&out](ActionKind kind, int a, int b = 0) {
    out.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)});
  };
  const bool may_corrupt = scene_.may_corrupt && !is_corrupted_;
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    if (!process.is_alive) continue;
    if (mischief.crashes > 0) add(ActionKind::crash, rank);
    if (!process.has_entered) {
      add(ActionKind::enter, rank);
      if (may_corrupt && is_sender(rank)) add(ActionKind::corrupt, rank, rank);
      continue;
    }
    for (int other = 0; other < procs() && !process.machine.is_over(); ++other) {
      if (other == rank || (process.told >> other & 1) != 0) continue;
      const bool may_slander = mischief.suspects_the_living && mischief.crashes > 0;
      if (at(other).is_doomed || may_slander) add(ActionKind::suspect, rank, other);
    }
    if (process.wants_to_send) add(ActionKind::send, rank);
  }
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    const Message& message = in_flight_[i];
    const int from = index(message.from);
    const int to = index(message.to);
    const bool carries = message.origins != 0 && message.kind != VoteKind::pull;
    if (i == first_of(from, to)) {
      if (at(to).has_entered) add(ActionKind::deliver, from, to);
      if (may_corrupt && carries) add(ActionKind::corrupt, from, to);
    }
    if (mischief.loses_messages && !at(from).is_alive && i == last_of(from, to))
      add(ActionKind::lose, from, to);
  }
}

bool DigestVoteWorld::is_at_rest(const DigestVoteWorld& world, const std::vector<Action>& actions) {
  return std::all_of(actions.begin(), actions.end(), [&world](const Action& action) {
    return action.kind == ActionKind::crash || action.kind == ActionKind::corrupt ||
           (action.kind == ActionKind::suspect && !world.is_doomed(action.b));
  });
}

// --- what happens
// ---------------------------------------------------------------------------------

int DigestVoteWorld::apply(const Action& action) {
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
      suspect(action.a, action.b);
      break;
    case ActionKind::crash:
      crash(action.a);
      break;
    case ActionKind::lose:
      in_flight_.erase(in_flight_.begin() +
                       static_cast<std::ptrdiff_t>(last_of(action.a, action.b)));
      break;
    case ActionKind::corrupt:
      corrupt(action.a, action.b);
      return action.b;
    case ActionKind::wake:
    case ActionKind::interrupt:
      break;
  }
  return action.a;
}

void DigestVoteWorld::enter(int rank) {
  Process& process = own(rank);
  process.has_entered = true;
  if (scene_.defect == DigestVoteDefect::shares && !is_sender(rank))
    for (int sender = 0; sender < config_->degree; ++sender)
      if (sender != rank % config_->degree) process.suspects.push_back(rank_at(sender));
  process.machine.start(context(process));
  drain(rank);
}

void DigestVoteWorld::deliver(int from, int to) {
  const std::size_t first = first_of(from, to);
  const Message message = in_flight_[first];
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(first));
  Process& process = own(to);
  const bool carries = message.kind == VoteKind::data || message.kind == VoteKind::digest;
  const bool is_heard = !process.machine.is_over() && !suspects(to, from);
  if (is_sender(from) && carries && is_heard) process.shares_in |= 1U << from;
  for (int i = 0; i < config_->degree && !is_sender(to) && is_heard; ++i)
    if (message.kind != VoteKind::pull && (message.origins >> i & 1) != 0 &&
        message.digests[static_cast<std::size_t>(i)] != right)
      process.outcome.heard_corruption = true;
  if (process.machine.handle_message(context(process), message) == Disposition::keep) {
    for (int i = 0; i < config_->degree; ++i)
      if ((message.origins >> i & 1) != 0)
        process.held[static_cast<std::size_t>(i)] = message.digests[static_cast<std::size_t>(i)];
    if (message.kind != VoteKind::data) complain(to, "keeps what has no data");
  }
  drain(to);
}

void DigestVoteWorld::deliver_ignored(int rank) {
  std::erase_if(in_flight_, [&](const Message& message) {
    if (index(message.to) != rank || is_sender(rank) || !at(rank).has_entered) return false;
    if (suspects(rank, index(message.from))) return true;
    const bool is_question = message.kind == VoteKind::inquiry || message.kind == VoteKind::pull;
    return at(rank).machine.is_over() && !is_question;
  });
}

// Under the defect `origins`: every digest under the next origin's name.
DigestVoteWorld::Message DigestVoteWorld::mislabel(const Message& message, int degree) {
  Message wrong = message;
  wrong.origins = 0;
  for (int i = 0; i < degree; ++i) {
    if ((message.origins >> i & 1) == 0) continue;
    const int next = (i + 1) % degree;
    wrong.origins |= 1U << next;
    wrong.digests[static_cast<std::size_t>(next)] = message.digests[static_cast<std::size_t>(i)];
  }
  return wrong;
}

void DigestVoteWorld::send(int rank) {
  Process& process = own(rank);
  auto message = process.machine.poll_send(context(process));
  if (!message) return;
  const int to = index(message->to);
  if (to < 0 || to >= procs() || to == rank || index(message->from) != rank) {
    complain(rank, "sends a message from or to nobody");
    return;
  }
  if (message->kind == VoteKind::data && !is_sender(rank))
    for (int i = 0; i < config_->degree; ++i)
      if (message->origins == 1U << i && process.held[static_cast<std::size_t>(i)] == 0)
        complain(rank, "gives a copy that it does not have");
  if (scene_.defect == DigestVoteDefect::origins && message->kind == VoteKind::opinions &&
      !is_sender(rank))
    message = mislabel(*message, config_->degree);
  ++messages_sent_;
  if (!at(to).is_alive) return;
  const auto place = std::upper_bound(in_flight_.begin(), in_flight_.end(), *message,
                                      [](const Message& a, const Message& b) {
                                        return std::pair{a.to, a.from} < std::pair{b.to, b.from};
                                      });
  in_flight_.insert(place, *message);
}

void DigestVoteWorld::suspect(int rank, int other) {
  own(other).is_doomed = true;
  Process& process = own(rank);
  process.told |= 1U << other;
  if (scene_.defect != DigestVoteDefect::suspicions && !suspects(rank, other)) {
    process.suspects.push_back(rank_at(other));
    std::sort(process.suspects.begin(), process.suspects.end());
    process.machine.handle_suspicion(context(process), rank_at(other));
  }
  drain(rank);
}

void DigestVoteWorld::crash(int rank) {
  Process& process = own(rank);
  process.is_alive = false;
  process.is_doomed = true;
  std::erase_if(in_flight_, [rank](const Message& message) { return index(message.to) == rank; });
}

void DigestVoteWorld::corrupt(int from, int to) {
  is_corrupted_ = true;
  if (from == to) {
    Process& process = own(from);
    process.outcome.is_corrupted = true;
    process.machine = Machine(*config_, rank_at(from), spoil(right, from));
    return;
  }
  Message& message = in_flight_[first_of(from, to)];
  for (int i = 0; i < config_->degree; ++i) {
    if ((message.origins >> i & 1) == 0) continue;
    message.digests[static_cast<std::size_t>(i)] =
        spoil(message.digests[static_cast<std::size_t>(i)], i);
    own(i).outcome.is_corrupted = true;
  }
}

// --- what the machines say
// ------------------------------------------------------------------------

void DigestVoteWorld::drain(int rank) {
  Process& process = own(rank);
  while (const auto event = process.machine.poll_event(context(process))) obey(rank, *event);
  const auto wants_to_send = [&process] {
    Machine copy = process.machine;
    return copy.poll_send(context(process)).has_value();
  };
  if (scene_.sends_at_once)
    while (wants_to_send() && violation_.empty()) send(rank);
  process.wants_to_send = wants_to_send();
}

// The program gets the copy of `origin`.
void DigestVoteWorld::take(int rank, Rank origin) {
  Process& process = own(rank);
  const std::uint64_t data = process.held[static_cast<std::size_t>(index(origin))];
  if (data == 0) complain(rank, "takes a copy that it does not have");
  process.outcome.origin = index(origin);
  process.outcome.is_right = data == right;
}

bool DigestVoteWorld::has_to_keep_to_own(int rank) {
  const Rank sender = config_->sender(config_->replica(rank_at(rank)));
  return config_->is_lazy() && config_->unproven == protocols::Unproven::own &&
         !context(own(rank)).suspects.contains(sender);
}

void DigestVoteWorld::obey(int rank, const VoteEvent& event) {
  DigestVoteOutcome& outcome = own(rank).outcome;
  if (outcome.end != VoteEnd::open) complain(rank, "says something after its end");
  switch (event.kind) {
    case VoteEventKind::deliver:
      if (outcome.origin >= 0) complain(rank, "delivers twice");
      if (!config_->is_lazy() && !is_settled(rank) && scene_.defect == DigestVoteDefect::none)
        complain(rank, "delivers before the shares are in");
      take(rank, event.origin);
      outcome.was_wrong = !outcome.is_right;
      if (outcome.was_wrong && has_to_keep_to_own(rank) &&
          index(event.origin) != config_->replica(rank_at(rank)))
        complain(rank, "is tainted by the copy of another replica");
      break;
    case VoteEventKind::repair:
      if (!outcome.is_tainted) complain(rank, "repairs what is not tainted");
      take(rank, event.origin);
      break;
    case VoteEventKind::taint:
      if (!config_->is_lazy()) complain(rank, "is eager, and tainted");
      outcome.is_tainted = true;
      break;
    case VoteEventKind::confirm:
      outcome.is_confirmed = true;
      if (!outcome.is_right) complain(rank, "confirms a corrupted copy");
      break;
    case VoteEventKind::mismatch:
      outcome.saw_mismatch = true;
      break;
    case VoteEventKind::outvote:
      outcome.outvoted |= 1U << index(event.origin);
      break;
    case VoteEventKind::finish:
      note_end(rank, VoteEnd::finished, event);
      break;
    case VoteEventKind::undecided:
      note_end(rank, VoteEnd::undecided, event);
      break;
    case VoteEventKind::lost:
      note_end(rank, VoteEnd::lost, event);
      break;
  }
}

void DigestVoteWorld::note_end(int rank, VoteEnd end, const VoteEvent& event) {
  DigestVoteOutcome& outcome = own(rank).outcome;
  outcome.end = end;
  outcome.agreeing = event.agreeing;
  outcome.failed = end != VoteEnd::finished;
  if (!is_settled(rank)) complain(rank, "ends while a copy or a digest is due");
}

std::vector<DigestVoteOutcome> DigestVoteWorld::outcomes() const {
  std::vector<DigestVoteOutcome> outcomes;
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    outcomes.push_back(process.outcome);
    outcomes.back().is_survivor = process.is_alive && process.has_entered && !process.is_doomed;
  }
  return outcomes;
}

// --- for the explorer
// -----------------------------------------------------------------------------

std::string DigestVoteWorld::describe(const Action& action) const {
  static constexpr const char* kinds[] = {"a copy",   "a digest",   "an inquiry",
                                          "opinions", "a question", "that there is no copy"};
  const std::string a = name_of(action.a, config_->degree);
  const std::string b = name_of(action.b, config_->degree);
  const auto text_of = [this](const Message& message) {
    std::string text = kinds[static_cast<int>(message.kind)];
    for (int i = 0; i < config_->degree; ++i) {
      if ((message.origins >> i & 1) == 0) continue;
      text += " of s" + std::to_string(i);
      const bool says = message.kind != VoteKind::pull;
      if (says && message.digests[static_cast<std::size_t>(i)] != right) text += " (corrupted)";
    }
    return text;
  };
  switch (action.kind) {
    case ActionKind::enter:
      return a + " enters";
    case ActionKind::deliver:
      return b + " receives from " + a + ": " + text_of(in_flight_[first_of(action.a, action.b)]);
    case ActionKind::send: {
      Machine copy = at(action.a).machine;
      const auto message = copy.poll_send(context(at(action.a)));
      return a + " sends to " + name_of(index(message->to), config_->degree) + ": " +
             text_of(*message);
    }
    case ActionKind::suspect:
      return a + " suspects " + b + (at(action.b).is_alive ? ", which still runs" : "");
    case ActionKind::crash:
      return a + " dies";
    case ActionKind::lose:
      return "the last message from " + a + " to " + b + " is lost";
    case ActionKind::corrupt:
      if (action.a == action.b) return "the copy of " + a + " is corrupted";
      return "on its way from " + a + " to " + b +
             " is corrupted: " + text_of(in_flight_[first_of(action.a, action.b)]);
    case ActionKind::wake:
    case ActionKind::interrupt:
      break;
  }
  return "?";
}

std::pair<std::uint64_t, std::uint64_t> DigestVoteWorld::digest() const {
  StateDigest digest;
  for (const auto& process : processes_) {
    if (!process->digest) {
      StateDigest own;
      const DigestVoteOutcome& outcome = process->outcome;
      own.add(process->is_alive | process->is_doomed << 1 | process->has_entered << 2 |
              outcome.is_corrupted << 3);
      if (process->is_alive) {
        own.add_bytes(process->machine);
        own.add(std::uint64_t{process->told} << 32 | process->shares_in);
        for (const std::uint64_t held : process->held) own.add(held);
        own.add(outcome.was_wrong | outcome.is_right << 1 | outcome.heard_corruption << 2 |
                outcome.is_tainted << 3 | outcome.saw_mismatch << 4 | outcome.is_confirmed << 5);
      }
      process->digest = own.value();
    }
    digest.add(*process->digest);
  }
  digest.add(is_corrupted_);
  for (const Message& message : in_flight_) digest.add_bytes(message);
  return digest.value();
}

}  // namespace resprout::sim
