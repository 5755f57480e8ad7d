// See world.hpp.
#include "sim/links/world.hpp"

#include <algorithm>

#include "protocols/failure_detector/local_health.hpp"
#include "protocols/link_watch/cut_rules.hpp"
#include "sim/adversary/state_digest.hpp"

namespace resprout::sim {
namespace {

using protocols::LinkWatch;
using registry::CutKind;

// It is always now: what was, grows older.
constexpr Time now{0};
constexpr Duration period = 1;

constexpr std::uint32_t bit(int rank) { return std::uint32_t{1} << rank; }
// In the second process of a delivery: the lifeline's connection, not the data link.
constexpr std::uint8_t lifeline = 0x80;

}  // namespace

LinksWorld::LinksWorld(const LinksScene& scene)
    : scene_(scene),
      processes_(static_cast<std::size_t>(scene.procs)),
      late_left_(scene.late_units) {
  for (Process& process : processes_) {
    process.watches.resize(processes_.size());
    process.hearing.resize(processes_.size());
    process.not_looked_for = 1;
  }
}

LinksWorld::Bits LinksWorld::awaited(int rank) const {
  const Process& process = at(rank);
  const Bits others = (bit(procs()) - 1) & ~bit(rank);
  return process.has_entered ? others & ~process.got & ~process.lost : 0;
}

bool LinksWorld::is_anybody_late() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const Process& process) {
    return process.is_alive && (process.is_starved || !process.has_entered);
  });
}

// Nobody who lives waits for anything.
bool LinksWorld::is_over() const {
  for (int rank = 0; rank < procs(); ++rank)
    if (at(rank).is_alive && (!has_ended(rank) || at(rank).is_starved)) return false;
  return in_flight_.empty();
}

bool LinksWorld::may_time_pass() const {
  if (is_over() || (is_anybody_late() && late_left_ == 0)) return false;
  for (int rank = 0; rank < procs(); ++rank)
    if (is_awake(rank) && !at(rank).has_looked) return false;
  return std::none_of(in_flight_.begin(), in_flight_.end(), [this](const Parcel& parcel) {
    return parcel.is_old && is_awake(parcel.to);
  });
}

std::size_t LinksWorld::first_of(int from, int to, bool of_data) const {
  const auto first = std::find_if(in_flight_.begin(), in_flight_.end(), [&](const Parcel& parcel) {
    return parcel.from == from && parcel.to == to && parcel.is_data() == of_data;
  });
  return static_cast<std::size_t>(first - in_flight_.begin());
}

// --- what may happen
// ------------------------------------------------------------------------------

void LinksWorld::list_actions(const Mischief& mischief, std::vector<Action>& out) const {
  out.clear();
  const auto add = [&out](ActionKind kind, int a, int b = 0) {
    out.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)});
  };
  const bool is_running = !is_over();
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    if (!process.is_alive) continue;
    if (mischief.crashes > 0 && is_running) add(ActionKind::crash, rank);
    if (!process.is_starved && !process.has_entered) add(ActionKind::enter, rank);
    const bool may_look =
        process.is_starved ? process.was_starved : is_running && !process.has_looked;
    if (may_look) add(ActionKind::wake, rank);
    if (is_running && !process.is_starved && late_left_ > 0) add(ActionKind::interrupt, rank);
    for (int other = 0; other < procs(); ++other) {
      const bool may_cut = is_running && cuts_made_ < scene_.cuts && host(rank) != host(other) &&
                           at(other).is_alive && !is_cut(rank, other);
      if (may_cut && (scene_.cut == CutKind::one_way || rank < other))
        add(ActionKind::corrupt, rank, other);
    }
  }
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    const Parcel& parcel = in_flight_[i];
    const bool of_data = parcel.is_data();
    if (is_awake(parcel.to) && i == first_of(parcel.from, parcel.to, of_data))
      add(ActionKind::deliver, parcel.from, of_data ? parcel.to : parcel.to | lifeline);
  }
  if (may_time_pass()) add(ActionKind::wake, procs());
}

bool LinksWorld::is_at_rest(const LinksWorld&, const std::vector<Action>& actions) {
  return std::all_of(actions.begin(), actions.end(), [](const Action& action) {
    return action.kind == ActionKind::crash || action.kind == ActionKind::corrupt ||
           action.kind == ActionKind::interrupt;
  });
}

// --- what happens
// ---------------------------------------------------------------------------------

int LinksWorld::apply(const Action& action) {
  const int other = action.b & ~lifeline;
  switch (action.kind) {
    case ActionKind::enter:
      enter(action.a);
      break;
    case ActionKind::deliver:
      deliver(action.a, other, (action.b & lifeline) == 0);
      return other;
    case ActionKind::wake:
      if (action.a == procs())
        pass_time();
      else
        look(action.a);
      break;
    case ActionKind::crash:
      crash(action.a);
      break;
    case ActionKind::corrupt:
      cut(action.a, action.b);
      break;
    case ActionKind::interrupt:
      own(action.a).is_starved = true;
      break;
    case ActionKind::send:
    case ActionKind::suspect:
    case ActionKind::lose:
      break;
  }
  return action.a < procs() ? action.a : 0;
}

void LinksWorld::enter(int rank) {
  own(rank).has_entered = true;
  for (int other = 0; other < procs(); ++other)
    if (other != rank) post(rank, other, Kind::data);
}

void LinksWorld::post(int from, int to, Kind kind, int about, int other) {
  ++messages_sent_;
  const Parcel parcel{
      static_cast<std::uint8_t>(from),  static_cast<std::uint8_t>(to),   kind, false,
      static_cast<std::uint8_t>(about), static_cast<std::uint8_t>(other)};
  if (at(to).is_alive && !(parcel.is_data() && is_cut(from, to))) in_flight_.push_back(parcel);
}

void LinksWorld::post_all(int from, Kind kind, int about, int other) {
  for (int to = 0; to < procs(); ++to)
    if (to != from) post(from, to, kind, about, other);
}

void LinksWorld::deliver(int from, int to, bool of_data) {
  const std::size_t first = first_of(from, to, of_data);
  const Parcel parcel = in_flight_[first];
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(first));
  Process& process = own(to);
  Hearing& hearing = process.hearing[static_cast<std::size_t>(from)];
  auto& watch = process.watches[static_cast<std::size_t>(from)];
  if (of_data)
    while (hearing.count == hearing.at_look || hearing.count == hearing.at_doubt)
      hearing.count = static_cast<std::uint8_t>((hearing.count + 1) % 3);
  switch (parcel.kind) {
    case Kind::data:
      process.got |= bit(from);
      break;
    case Kind::keepalive:
      post(to, from, Kind::acknowledgment);
      break;
    case Kind::acknowledgment:
      break;
    case Kind::question:
      post(to, from, Kind::acknowledgment);
      post(to, from, Kind::at_work);
      break;
    case Kind::at_work:
      if (watch) watch->handle_at_work(now);
      break;
    case Kind::silent:
      note_silent(to, parcel.about, parcel.other);
      break;
    case Kind::lost:
      note_lost(to, parcel.about);
      break;
  }
}

void LinksWorld::pass_time() {
  if (is_anybody_late()) --late_left_;
  for (Process& process : processes_) {
    process.has_looked = false;
    process.was_starved = process.is_starved;
    ++process.not_looked_for;
    for (auto& watch : process.watches)
      if (watch) watch->forgive(now, -period);
    for (Noted& link : process.noted)
      if (link.age < scene_.patience) ++link.age;
  }
  for (Parcel& parcel : in_flight_) parcel.is_old = true;
}

// What the data links, or the lifeline's, had on their way when this unit began.
void LinksWorld::read_old(int rank, bool of_data) {
  for (;;) {
    const auto next = std::find_if(in_flight_.begin(), in_flight_.end(), [&](const Parcel& parcel) {
      return parcel.to == rank && parcel.is_old && parcel.is_data() == of_data;
    });
    if (next == in_flight_.end()) return;
    deliver(next->from, rank, of_data);
  }
}

// As Links::look of the runtime, whose engine reads before it looks.
void LinksWorld::look(int rank) {
  if (scene_.defect != LinksDefect::reading) read_old(rank, true);
  if (at(rank).is_starved && scene_.defect != LinksDefect::answers) read_old(rank, false);
  if (!at(rank).is_alive) return;
  Process& process = own(rank);
  const Duration late = protocols::starved_for(process.not_looked_for - period, period);
  process.is_starved = process.was_starved = false;
  process.has_looked = true;
  process.not_looked_for = 0;
  for (int peer = 0; peer < procs(); ++peer) {
    Hearing& hearing = process.hearing[static_cast<std::size_t>(peer)];
    if (hearing.count != hearing.at_doubt) process.doubted &= ~bit(peer);
    hearing.at_look = hearing.count;
    if ((process.doubted & bit(peer)) == 0) hearing.at_doubt = hearing.at_look;
    auto& watch = process.watches[static_cast<std::size_t>(peer)];
    const bool is_doubted = (process.doubted & ~process.lost & bit(peer)) != 0;
    const bool is_awaited = (awaited(rank) & bit(peer)) != 0 && host(peer) != host(rank);
    if (!is_awaited && !is_doubted) {
      watch.reset();
      continue;
    }
    if (!watch) {
      watch.emplace(is_doubted ? now + Duration{-scene_.patience} : now, hearing.count);
      continue;
    }
    if (late != 0) watch->forgive(now, late);
    take(rank, peer, watch->handle_look(now, hearing.count, scene_.patience));
  }
  judge(rank);
}

void LinksWorld::take(int rank, int peer, LinkWatch::Step step) {
  switch (step) {
    case LinkWatch::Step::none:
      break;
    case LinkWatch::Step::ask:
      post(rank, peer, Kind::keepalive);
      break;
    case LinkWatch::Step::ask_detector:
      if (scene_.defect == LinksDefect::detector)
        own(rank).watches[static_cast<std::size_t>(peer)]->handle_at_work(now);
      else
        post(rank, peer, Kind::question);
      break;
    case LinkWatch::Step::report:
      if (!is_cut(peer, rank))
        complain(rank, "reports the link with " + std::to_string(peer) + ", which is not silent");
      note_silent(rank, rank, peer);
      post_all(rank, Kind::silent, std::min(rank, peer), std::max(rank, peer));
      break;
  }
}

// As Cuts::verdict of the runtime.
void LinksWorld::judge(int rank) {
  const auto host_of = [this](int of) { return host(of); };
  const auto lives = [&](int of) { return (at(rank).lost & bit(of)) == 0; };
  const std::vector<Noted> noted = at(rank).noted;
  const protocols::CutRules rules(procs(), noted, host_of, lives);
  for (const Noted& link : noted) {
    const protocols::SilentLink ends{link.low, link.high};
    if (link.age < scene_.patience || !rules.is_open(ends) || !at(rank).is_alive) continue;
    const int loser = rules.loser_of(ends);
    if (scene_.defect == LinksDefect::verdict) {
      if (rank == link.low || rank == link.high) decide(rank, link.low + link.high - rank, rank);
    } else if (rules.judge_of(ends) == rank) {
      decide(rank, loser, link.low + link.high - loser);
    }
  }
}

void LinksWorld::decide(int rank, int loser, int found_by) {
  if (!is_cut(loser, found_by) && !is_cut(found_by, loser))
    complain(rank, "has " + std::to_string(loser) + " go, whose link is not silent");
  own(loser).had_to_go = true;
  post_all(rank, Kind::lost, loser);
  note_lost(rank, loser);
}

void LinksWorld::note_silent(int rank, int one, int other) {
  Process& process = own(rank);
  const auto low = static_cast<std::uint8_t>(std::min(one, other));
  const auto high = static_cast<std::uint8_t>(std::max(one, other));
  for (const Noted& link : process.noted)
    if (link.low == low && link.high == high) return;
  process.noted.push_back({low, high, 0});
  for (int peer = 0; peer < procs(); ++peer) {
    const bool is_between = (host(rank) == host(one) && host(peer) == host(other)) ||
                            (host(rank) == host(other) && host(peer) == host(one));
    if (!is_between || (process.doubted & bit(peer)) != 0) continue;
    process.doubted |= bit(peer);
    Hearing& hearing = process.hearing[static_cast<std::size_t>(peer)];
    hearing.at_doubt = hearing.count;
  }
}

void LinksWorld::note_lost(int rank, int loser) {
  Process& process = own(rank);
  process.lost |= bit(loser);
  if (loser != rank) return;
  process.is_alive = false;
  std::erase_if(in_flight_, [rank](const Parcel& parcel) { return parcel.to == rank; });
}

void LinksWorld::cut(int from, int to) {
  ++cuts_made_;
  const auto cut_one = [this](int sender, int receiver) {
    cut_[static_cast<std::size_t>(sender)] |= bit(receiver);
    std::erase_if(in_flight_, [&](const Parcel& parcel) {
      return parcel.from == sender && parcel.to == receiver && parcel.is_data();
    });
  };
  for (int one = 0; one < procs(); ++one) {
    for (int other = 0; other < procs(); ++other) {
      const bool is_this = one == from && other == to;
      const bool are_hosts = host(one) == host(from) && host(other) == host(to);
      if (scene_.cut == CutKind::hosts ? !are_hosts : !is_this) continue;
      cut_one(one, other);
      if (scene_.cut != CutKind::one_way) cut_one(other, one);
    }
  }
}

void LinksWorld::crash(int rank) {
  Process& process = own(rank);
  process.is_alive = false;
  process.has_died = true;
  std::erase_if(in_flight_, [rank](const Parcel& parcel) { return parcel.to == rank; });
  post_all(rank, Kind::lost, rank);
}

std::vector<LinksOutcome> LinksWorld::outcomes() const {
  std::vector<LinksOutcome> outcomes;
  const bool has_anybody_to_go =
      std::any_of(processes_.begin(), processes_.end(),
                  [](const Process& process) { return process.had_to_go; });
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    outcomes.push_back({.is_survivor = process.is_alive && !process.had_to_go,
                        .failed = has_anybody_to_go,
                        .has_ended = has_ended(rank),
                        .has_died = process.has_died,
                        .had_to_go = process.had_to_go,
                        .host = host(rank)});
  }
  return outcomes;
}

// --- for the explorer
// -----------------------------------------------------------------------------

std::string LinksWorld::describe(const Action& action) const {
  static constexpr const char* kinds[] = {"its data",     "KEEPALIVE",   "ACK", "are you at work?",
                                          "I am at work", "silent link", "lost"};
  const int other = action.b & ~lifeline;
  const std::string a = std::to_string(action.a);
  const std::string b = std::to_string(other);
  switch (action.kind) {
    case ActionKind::enter:
      return a + " enters";
    case ActionKind::deliver: {
      const Parcel& parcel = in_flight_[first_of(action.a, other, (action.b & lifeline) == 0)];
      std::string text = b + " receives from " + a + ": " + kinds[static_cast<int>(parcel.kind)];
      if (parcel.kind == Kind::silent || parcel.kind == Kind::lost)
        text += " " + std::to_string(parcel.about);
      if (parcel.kind == Kind::silent) text += "-" + std::to_string(parcel.other);
      return text;
    }
    case ActionKind::wake:
      if (action.a == procs()) return "time passes";
      return a + (at(action.a).is_starved ? " runs again, and looks" : " looks");
    case ActionKind::crash:
      return a + " dies";
    case ActionKind::corrupt:
      if (scene_.cut == CutKind::hosts)
        return "the links between the hosts of " + a + " and " + b + " are cut";
      return "the link " + std::string(scene_.cut == CutKind::link ? "between " : "from ") + a +
             (scene_.cut == CutKind::link ? " and " : " to ") + b + " is cut";
    case ActionKind::interrupt:
      return a + " is starved";
    case ActionKind::send:
    case ActionKind::suspect:
    case ActionKind::lose:
      break;
  }
  return "?";
}

std::pair<std::uint64_t, std::uint64_t> LinksWorld::digest() const {
  StateDigest digest;
  for (const Process& process : processes_) {
    digest.add(process.is_alive | process.has_died << 1 | process.had_to_go << 2 |
               process.has_entered << 3 | process.is_starved << 4 | process.has_looked << 5 |
               process.was_starved << 6 | std::uint64_t{process.not_looked_for} << 8);
    digest.add(std::uint64_t{process.got} << 32 | process.lost);
    digest.add(process.doubted);
    if (!process.is_alive) continue;
    for (const auto& watch : process.watches) {
      digest.add(watch.has_value());
      if (watch) digest.add_bytes(*watch);
    }
    digest.add_all_bytes(process.hearing);
    digest.add_all_bytes(process.noted);
  }
  digest.add_bytes(cut_);
  digest.add(static_cast<std::uint64_t>(late_left_) << 32 | static_cast<unsigned>(cuts_made_));
  // What is on its way: only the order between the same two, on the same way, counts.
  std::vector<Parcel> sorted = in_flight_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Parcel& a, const Parcel& b) {
    return std::tuple(a.from, a.to, a.is_data()) < std::tuple(b.from, b.to, b.is_data());
  });
  digest.add_all_bytes(sorted);
  return digest.value();
}

}  // namespace resprout::sim
