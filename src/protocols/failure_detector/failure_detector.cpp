// See failure_detector.hpp.
#include "protocols/failure_detector/failure_detector.hpp"

#include <algorithm>
#include <bit>

#include "core/invariant.hpp"

namespace resprout::protocols {

FailureDetector::FailureDetector(const FailureDetectorConfig& config, Rank self,
                                 std::span<const Rank> neighbors)
    : config_(&config),
      self_(self),
      count_(static_cast<std::uint32_t>(neighbors.size())),
      beaten_(count_) {
  RESPROUT_INVARIANT(neighbors.size() <= neighbors_max && config.period > 0);
  std::copy(neighbors.begin(), neighbors.end(), neighbors_.begin());
}

void FailureDetector::start(const Context& context) {
  for (std::uint32_t i = 0; i < count_; ++i) {
    silences_[i].start(context.now);
    if (!context.suspects.contains(neighbors_[i])) watched_ |= std::uint64_t{1} << i;
  }
  next_beat_ = context.now;
  handle_timeout(context);
}

std::uint32_t FailureDetector::find(Rank rank) const {
  const auto* end = neighbors_.begin() + count_;
  return static_cast<std::uint32_t>(std::find(neighbors_.begin(), end, rank) - neighbors_.begin());
}

Disposition FailureDetector::handle_message(const Context& context, const Message& message) {
  const std::uint32_t neighbor = find(message.from);
  if (neighbor < count_) silences_[neighbor].handle_sound(context.now);
  return Disposition::done;
}

void FailureDetector::handle_suspicion(const Context&, Rank rank) {
  const std::uint32_t neighbor = find(rank);
  if (neighbor < count_) watched_ &= ~(std::uint64_t{1} << neighbor);
}

void FailureDetector::handle_timeout(const Context& context) {
  const Time now = context.now;
  const Time due = std::min(next_beat_, earliest_verdict());
  if (now < due) return;
  const Duration starved = starved_for(now - due, config_->period);
  health_.handle_deadline(starved != 0);
  if (starved != 0)
    for (std::uint32_t i = 0; i < count_; ++i) silences_[i].forgive(now, starved);

  const Duration patience = health_.stretch(config_->timeout);
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (!is_watched(i) || silences_[i].length(now) < patience) continue;
    watched_ &= ~(std::uint64_t{1} << i);
    silent_ |= std::uint64_t{1} << i;
  }
  if (now >= next_beat_) {
    next_beat_ = now + config_->period;
    beaten_ = 0;
  }
}

std::optional<Event> FailureDetector::poll_event(const Context&) {
  if (silent_ == 0) return std::nullopt;
  const int neighbor = std::countr_zero(silent_);
  silent_ &= silent_ - 1;
  Message subject;
  subject.from = neighbors_[static_cast<std::uint32_t>(neighbor)];
  subject.to = self_;
  subject.kind = MessageKind::heartbeat;
  return Event{EventKind::suspect, subject};
}

std::optional<Message> FailureDetector::poll_send(const Context&) {
  while (beaten_ < count_) {
    const std::uint32_t neighbor = beaten_++;
    if (!is_watched(neighbor)) continue;
    Message heartbeat;
    heartbeat.from = self_;
    heartbeat.to = neighbors_[neighbor];
    heartbeat.kind = MessageKind::heartbeat;
    return heartbeat;
  }
  return std::nullopt;
}

Time FailureDetector::earliest_verdict() const {
  Time earliest = never;
  for (std::uint32_t i = 0; i < count_; ++i)
    if (is_watched(i))
      earliest = std::min(earliest, silences_[i].reaches(health_.stretch(config_->timeout)));
  return earliest;
}

Deadline FailureDetector::poll_timeout(const Context&) const {
  if (watched_ == 0) return {};
  const Time verdict = earliest_verdict();
  if (verdict < next_beat_) return {verdict, "a neighbor that is silent"};
  return {next_beat_, "the next heartbeat"};
}

}  // namespace resprout::protocols
