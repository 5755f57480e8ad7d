#include "runtime/links.hpp"

#include <algorithm>
#include <utility>

#include "protocols/failure_detector/local_health.hpp"
#include "runtime/mutex.hpp"

namespace resprout::runtime {

using protocols::LinkWatch;

const std::vector<int>& Links::one_on_each_host(std::uint64_t session, const Members& members) {
  constexpr std::size_t sessions_max = 64;
  if (on_other_hosts_.size() > sessions_max) on_other_hosts_.clear();
  const auto [at, is_new] = on_other_hosts_.try_emplace(session);
  if (!is_new) return at->second;
  std::map<int, std::vector<int>> by_host;
  for (int i = 0; i < members.size(); ++i) {
    const int rank = members.world_rank(rank_at(i));
    by_host[host(rank)].push_back(rank);
  }
  const std::vector<int>& own = by_host[host(self_)];
  const auto self = static_cast<std::size_t>(std::ranges::find(own, self_) - own.begin());
  std::size_t number = 0;
  for (const auto& [other, ranks] : by_host)
    if (other != host(self_) && number++ % own.size() == self)
      at->second.push_back(ranks[self % ranks.size()]);
  return at->second;
}

void Links::look(Time now, std::set<int> awaited, const std::function<bool(int)>& is_lost) {
  std::erase_if(doubted_, [&](const auto& doubt) {
    return is_lost(doubt.first) || transport_.heard_of(doubt.first) != doubt.second;
  });
  for (const auto& [rank, heard] : doubted_) awaited.insert(rank);
  std::erase_if(awaited, [&](int rank) { return is_lost(rank) || host(rank) == host(self_); });
  std::erase_if(watches_, [&](const auto& entry) { return !awaited.contains(entry.first); });
  // As for heartbeats: who looks late was kept from running, and may have been kept from reading.
  const Duration late =
      protocols::starved_for(now - looked_at_ - look_period_ns(), look_period_ns());
  looked_at_ = now;
  for (auto& [rank, since] : unanswered_) since = std::min(now, since + late);
  answer_questions(now);
  for (const int rank : awaited) {
    const std::uint64_t heard = transport_.heard_of(rank);
    // Whose link is doubted is asked at once.
    const Time since = doubted_.contains(rank) ? now + -watching_.patience_ns : now;
    const auto [at, is_new] = watches_.try_emplace(rank, since, heard);
    if (is_new) continue;
    if (late != 0) at->second.forgive(now, late);
    take(rank, at->second.handle_look(now, heard, watching_.patience_ns));
  }
}

void Links::take(int rank, LinkWatch::Step step) {
  switch (step) {
    case LinkWatch::Step::none:
      break;
    case LinkWatch::Step::ask:
      send(rank, MessageKind::keepalive);
      break;
    case LinkWatch::Step::ask_detector:
      watching_.ask_detector(rank);
      break;
    case LinkWatch::Step::report:
      watching_.report(rank);
      break;
  }
}

bool Links::try_send(int peer, MessageKind kind) {
  FrameHeader header{.communicator = links_id};
  header.message.from = rank_at(self_);
  header.message.to = rank_at(peer);
  header.message.kind = kind;
  return transport_.try_send(peer, header, {}, {}, transfer_);
}

void Links::send(int peer, MessageKind kind) {
  if (!try_send(peer, kind)) unsent_.insert({peer, kind});
}

// That anything came is all there is to an ACK: the transport counts it.
void Links::handle_frame(int peer, const Message& message) {
  if (message.kind == MessageKind::keepalive) send(peer, MessageKind::acknowledgment);
}

void Links::flush() {
  std::erase_if(unsent_, [&](const auto& entry) { return try_send(entry.first, entry.second); });
}

// Who has its answer, or cannot be given one though this process has tried for as long as the peer
// will wait for it, is told so where it has asked.
void Links::answer_questions(Time now) {
  std::erase_if(unanswered_, [&](const auto& question) {
    const auto [by, since] = question;
    const bool is_over = now - since >= watching_.patience_ns ||
                         !unsent_.contains({by, MessageKind::acknowledgment});
    if (is_over) watching_.say_at_work(by);
    return is_over;
  });
}

void Links::note_question(int by) {
  const MutexLock guard(notes_mutex_);
  questions_.push_back(by);
}

void Links::note_at_work(int rank) {
  const MutexLock guard(notes_mutex_);
  at_work_.push_back(rank);
}

void Links::note_silent_link(int one, int other) {
  const MutexLock guard(notes_mutex_);
  silent_.emplace_back(one, other);
}

void Links::doubt_links_with(int host) {
  for (int rank = 0; rank < static_cast<int>(watching_.hosts.size()); ++rank)
    if (this->host(rank) == host) doubted_.try_emplace(rank, transport_.heard_of(rank));
}

void Links::handle_notes(Time now) {
  std::vector<int> questions;
  std::vector<int> at_work;
  std::vector<std::pair<int, int>> silent;
  {
    const MutexLock guard(notes_mutex_);
    questions.swap(questions_);
    at_work.swap(at_work_);
    silent.swap(silent_);
  }
  for (const int by : questions) {
    send(by, MessageKind::acknowledgment);
    unanswered_.try_emplace(by, now);
  }
  answer_questions(now);
  for (const int rank : at_work) {
    const auto watch = watches_.find(rank);
    if (watch != watches_.end()) watch->second.handle_at_work(now);
  }
  for (const auto& [one, other] : silent) {
    if (host(one) == host(self_)) doubt_links_with(host(other));
    if (host(other) == host(self_)) doubt_links_with(host(one));
  }
}

}  // namespace resprout::runtime
