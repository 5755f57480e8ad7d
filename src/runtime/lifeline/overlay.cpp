#include "runtime/lifeline/overlay.hpp"

#include <algorithm>
#include <utility>

#include "runtime/net/clock.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

constexpr std::int64_t retry_ns = 20'000'000;
// How often a port must refuse before its process counts as gone. Where there was a link, once is
// proof; else a goodbye may still be on its way. A process that had been silent was probably ended
// by somebody on its host, who knows more and is to speak first.
constexpr int refusals_max = 10;
constexpr std::size_t strangers_spare = 64;
constexpr std::size_t seen_max = 65536;

}  // namespace

void Overlay::start(std::vector<PeerAddress> peers, std::int64_t now) {
  peers_ = std::move(peers);
  watches_.resize(peers_.size());
  is_needed_ = std::ranges::any_of(peers_, [&](const PeerAddress& peer) {
    return !peer.is_same_host(peers_[static_cast<std::size_t>(options_.rank)]);
  });
  if (!is_needed_) return;
  heal_at_ = now;
  std::map<HostId, int> lowest;  // rank on each host
  std::vector<int> hosts;
  hosts.reserve(peers_.size());
  for (const PeerAddress& peer : peers_) {
    const int rank = static_cast<int>(hosts.size());
    hosts.push_back(lowest.try_emplace(peer.host_id, rank).first->second);
  }
  cuts_ = Cuts(std::move(hosts));
}

bool Overlay::is_remote(int rank) const {
  return !peers_[static_cast<std::size_t>(rank)].is_same_host(
      peers_[static_cast<std::size_t>(options_.rank)]);
}

bool Overlay::has_link(int rank) const {
  return std::ranges::any_of(links_, [&](const auto& entry) {
    return entry.second.peer() == rank && !entry.second.is_over();
  });
}

bool Overlay::is_connected() const {
  if (is_needed_ && heal_at_ != 0) return false;
  return std::ranges::all_of(wanted_, [&](int rank) {
    return std::ranges::any_of(links_, [&](const auto& entry) {
      return entry.second.peer() == rank && entry.second.is_established();
    });
  });
}

bool Overlay::has_unsaid() const {
  return std::ranges::any_of(links_, [](const auto& entry) {
    return entry.second.is_young() || entry.second.has_unsent();
  });
}

void Overlay::want(int rank, std::int64_t now) {
  if (rank == options_.rank || !roster_.is_alive(rank) || !wanted_.insert(rank).second) return;
  watch(rank).retry_at = now;
  if (!watch(rank).was_established) watch(rank).silence.start({now});
}

void Overlay::connect(int rank, std::int64_t now) {
  const PeerAddress& peer = peers_[static_cast<std::size_t>(rank)];
  watch(rank).retry_at = now + retry_ns;
  add(Link::initiate(peer.address.data(), peer.lifeline_port, options_.secret, options_.rank, rank,
                     now + auth::handshake_deadline_ns));
}

void Overlay::handle_connection(Fd socket, std::int64_t now) {
  drop_oldest_stranger();
  add(Link::accept(std::move(socket), options_.secret, options_.rank,
                   now + auth::handshake_deadline_ns));
}

void Overlay::drop_oldest_stranger() {
  std::size_t strangers = 0;
  Link* oldest = nullptr;
  for (auto& [serial, link] : links_) {
    if (!link.is_young() || link.is_own()) continue;
    if (strangers++ == 0) oldest = &link;
  }
  if (strangers >= strangers_spare + peers_.size()) oldest->give_up();
}

void Overlay::add(Link link) {
  const std::uint32_t serial = next_serial_++;
  if (!link.is_over() && !poller_.add(link.socket(), first_key_ + serial, link.events()))
    link.give_up();
  links_.emplace(serial, std::move(link));
}

void Overlay::handle_event(std::uint32_t serial, std::int64_t now) {
  const auto it = links_.find(serial);
  if (it == links_.end()) return;
  Link& link = it->second;
  const bool was_young = link.is_young();
  std::vector<Said> received;
  link.advance(received);
  const bool is_proven = link.is_established() || link.state() == Link::State::ended;
  if (is_proven && (!roster_.contains(link.peer()) || link.peer() == options_.rank)) {
    link.give_up();
  } else if (is_proven) {
    if (was_young) handle_established(link, now);
    // Even if the link has ended: what was said before counts.
    for (const Said& said : received)
      if (said.news.kind == NewsKind::message)
        handle_message(link.peer(), said.message, now);
      else
        handle_news(link.peer(), said.news, now);
  }
  if (!link.is_over()) poller_.modify(link.socket(), first_key_ + serial, link.events());
  sweep(now);
}

void Overlay::handle_established(Link& link, std::int64_t now) {
  Watch& it = watch(link.peer());
  it.was_established = true;
  it.refusals = 0;
  it.silence.handle_sound({now});
  it.accused_at = 0;
  for (const News& news : known_) link.say(news);
}

// Takes out the links that are over and draws the conclusions.
void Overlay::sweep(std::int64_t now) {
  for (;;) {
    const auto it = std::ranges::find_if(links_, [](const auto& e) { return e.second.is_over(); });
    if (it == links_.end()) return;
    Link link = std::move(it->second);
    links_.erase(it);
    if (link.failure() == auth::Failure::other_version)
      findings_.handle_other_version(place_of(link), link.peer_version());
    poller_.remove_and_close(link.socket());
    if (!link.is_own() && link.state() != Link::State::ended) {
      rejected_.fetch_add(1, std::memory_order_relaxed);
    } else if (roster_.contains(link.peer()) && roster_.is_alive(link.peer())) {
      handle_end(link.peer(), link.state(), now);
    } else if (roster_.contains(link.peer()) && link.state() == Link::State::refused) {
      report(link.peer(), LossKind::exited);
    }
  }
}

std::string Overlay::place_of(Link& link) const {
  if (link.is_own()) return peers_[static_cast<std::size_t>(link.peer())].address.data();
  return peer_of(link.socket());
}

// A link with a living rank is over.
void Overlay::handle_end(int rank, Link::State end, std::int64_t now) {
  if (!is_needed_) return;
  Watch& it = watch(rank);
  if (end == Link::State::ended) {
    want(rank, now);
    it.retry_at = now;
  } else if (end == Link::State::refused && is_remote(rank)) {
    const bool was_silent = it.silence.length({now}) >= options_.heartbeat_timeout_ns;
    const int enough = it.was_established && !was_silent ? 1 : refusals_max;
    if (++it.refusals < enough) return;
    // The goodbye of one that was not linked with us may have reached nobody who is still there.
    if (!it.was_established && roster_.has_anybody_left()) return findings_.handle_left(rank);
    report(rank, was_silent ? LossKind::hung : LossKind::exited);
  }
}

void Overlay::report(int rank, LossKind kind, int found_by) {
  findings_.handle_loss(
      {.rank = rank, .kind = kind, .found_by = found_by, .detected_ns = realtime_ns()});
}

void Overlay::handle_time(std::int64_t now) {
  if (links_.empty() && !is_needed_) return;
  if (heal_at_ != 0 && now >= heal_at_) {
    heal_at_ = 0;
    for (const int rank : roster_.link_targets()) want(rank, now);
  }
  for (auto& [serial, link] : links_) {
    if (link.is_young() && now >= link.deadline()) link.give_up();
    if (link.has_unsent()) poller_.modify(link.socket(), first_key_ + serial, link.events());
  }
  for (const int rank : wanted_)
    if (now >= watch(rank).retry_at && !has_link(rank)) connect(rank, now);
  sweep(now);
}

void Overlay::handle_heartbeat(std::int64_t now, std::int64_t starved_ns) {
  if (!is_needed_) return;
  std::set<int> watched = wanted_;
  for (auto& [serial, link] : links_) {
    if (!link.is_established() || !roster_.is_alive(link.peer())) continue;
    watched.insert(link.peer());
    link.say({.kind = NewsKind::heartbeat});
  }
  for (const int rank : watched)
    if (is_remote(rank)) watch_silence(rank, now, starved_ns);
  decide_on_cuts(now);
  sweep(now);
}

void Overlay::watch_silence(int rank, std::int64_t now, std::int64_t starved_ns) {
  Watch& it = watch(rank);
  if (starved_ns > 0) {
    it.silence.forgive({now}, starved_ns);
    if (it.accused_at != 0) it.accused_at = std::min(now, it.accused_at + starved_ns);
  }
  const std::int64_t timeout = health_.stretch(options_.heartbeat_timeout_ns);
  const std::int64_t length = it.silence.length({now});
  if (length < timeout || !roster_.is_alive(rank)) return;
  if (it.accused_at != 0 && now - it.accused_at < timeout) return;
  // Those on its host end it after the grace; only if they don't, this is a matter of the network.
  const bool is_out_of_grace = length >= 2 * timeout + options_.starved_grace_ns;
  if (is_out_of_grace || (it.accused_at != 0 && !it.is_answered)) {
    report(rank, LossKind::unreachable);
    return;
  }
  it.accused_at = now;
  it.is_answered = false;
  accusations_.fetch_add(1, std::memory_order_relaxed);
  spread({.kind = NewsKind::accusation,
          .rank = rank,
          .by = options_.rank,
          .serial = ++serial_,
          .time_ns = realtime_ns()});
}

void Overlay::spread(const News& news) {
  if (news.kind == NewsKind::lost || news.kind == NewsKind::left) known_.push_back(news);
  for (auto& [serial, link] : links_) link.say(news);
}

void Overlay::handle_gone(int rank, std::int64_t heal_at) {
  if (!is_needed_) return;
  wanted_.erase(rank);
  heal_at_ = heal_at_ == 0 ? heal_at : std::min(heal_at_, heal_at);
}

void Overlay::look_at(int rank, std::int64_t now) {
  if (is_needed_) want(rank, now);
}

void Overlay::handle_news(int from, const News& news, std::int64_t now) {
  const bool makes_sense =
      news.kind == NewsKind::heartbeat ||
      (roster_.contains(news.rank) && (news.kind == NewsKind::left || roster_.contains(news.by)) &&
       news.loss_kind <= static_cast<std::uint32_t>(LossKind::cut_off));
  // Who is lost is not listened to.
  if (!makes_sense || roster_.standing(from) == Standing::lost) return;
  watch(from).silence.handle_sound({now});
  watch(from).accused_at = 0;
  switch (news.kind) {
    case NewsKind::heartbeat:
    case NewsKind::message:
      break;
    case NewsKind::lost:
      findings_.handle_loss({.rank = news.rank,
                             .kind = static_cast<LossKind>(news.loss_kind),
                             .found_by = news.by,
                             .detected_ns = news.time_ns});
      break;
    case NewsKind::left:
      findings_.handle_left(news.rank);
      break;
    case NewsKind::accusation:
      if (is_new(news)) handle_accusation(news);
      break;
    case NewsKind::alive:
      if (!is_new(news)) break;
      spread(news);
      if (news.by == options_.rank) watch(news.rank).is_answered = true;
      break;
    case NewsKind::question:
      if (is_new(news)) handle_question(news);
      break;
    case NewsKind::at_work:
      if (!is_new(news)) break;
      spread(news);
      if (news.by == options_.rank) findings_.handle_at_work(news.rank);
      break;
    case NewsKind::silent:
      if (!is_new(news)) break;
      spread(news);
      cuts_.note(news.rank, news.by, now);
      findings_.handle_silent_link(news.rank, news.by);
      break;
  }
}

// Also of the lost: they are told what has become of them.
void Overlay::handle_message(int from, std::span<const std::uint8_t> message, std::int64_t now) {
  watch(from).silence.handle_sound({now});
  findings_.handle_message(from, message);
}

// A link to `rank` that is there or coming to be; nullptr: none.
Link* Overlay::channel(int rank) {
  const auto known = channels_.find(rank);
  const auto it = known == channels_.end() ? links_.end() : links_.find(known->second);
  if (it != links_.end() && !it->second.is_over()) return &it->second;
  for (auto& [serial, link] : links_) {
    if (link.peer() != rank || link.is_over() || !(link.is_own() || link.is_established()))
      continue;
    channels_[rank] = serial;
    return &link;
  }
  return nullptr;
}

void Overlay::send(int rank, std::span<const std::uint8_t> message, std::int64_t now) {
  if (channel(rank) == nullptr) connect(rank, now);
  if (Link* const link = channel(rank)) link->say(message);
}

bool Overlay::is_new(const News& news) {
  if (seen_.size() > seen_max) seen_.clear();
  return seen_.emplace(news.kind, news.by, news.serial).second;
}

void Overlay::handle_accusation(const News& news) {
  spread(news);
  if (news.rank == options_.rank && options_.heeds_local_health) health_.handle_accusation();
  // The processes of its host look after it: they will find it dead, or end it if it hangs.
  const bool can_answer =
      news.rank == options_.rank || (!is_remote(news.rank) && roster_.is_alive(news.rank));
  if (!can_answer) return;
  News answer = news;
  answer.kind = NewsKind::alive;
  if (is_new(answer)) spread(answer);
}

void Overlay::ask_whether_at_work(int rank) {
  if (!is_needed_ || !is_remote(rank)) return;
  const News question{.kind = NewsKind::question,
                      .rank = rank,
                      .by = options_.rank,
                      .serial = ++serial_,
                      .time_ns = realtime_ns()};
  if (is_new(question)) spread(question);
}

void Overlay::handle_question(const News& news) {
  spread(news);
  if (news.rank != options_.rank) return;
  questions_[news.by] = news.serial;
  findings_.handle_question(news.by);
}

void Overlay::say_at_work(int rank) {
  const auto question = questions_.find(rank);
  if (question == questions_.end()) return;
  const News answer{.kind = NewsKind::at_work,
                    .rank = options_.rank,
                    .by = rank,
                    .serial = question->second,
                    .time_ns = realtime_ns()};
  if (is_new(answer)) spread(answer);
}

void Overlay::report_silent_link(int rank, std::int64_t now) {
  if (!is_needed_ || !is_remote(rank)) return;
  const News report{.kind = NewsKind::silent,
                    .rank = rank,
                    .by = options_.rank,
                    .serial = ++serial_,
                    .time_ns = realtime_ns()};
  if (is_new(report)) spread(report);
  cuts_.note(rank, options_.rank, now);
  findings_.handle_silent_link(rank, options_.rank);
}

void Overlay::decide_on_cuts(std::int64_t now) {
  while (const auto verdict = cuts_.verdict(roster_, now, options_.heartbeat_timeout_ns))
    report(verdict->rank, LossKind::cut_off, verdict->found_by);
}

}  // namespace resprout::runtime
