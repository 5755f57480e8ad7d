#include "sim/steps/published_polling.hpp"

#include <algorithm>
#include <utility>

#include "sim/steps/relatives.hpp"

namespace resprout::sim {
namespace {

using topology::RangeForest;

// Deadlines are rarely farther away.
constexpr Duration looks_ahead = 4095;

}  // namespace

PublishedPolling::PublishedPolling(const protocols::FtcoInBandConfig& config)
    : timing_(config.timing),
      flights_(2 * (config.timing.latency + config.timing.overhead)),
      looks_(looks_ahead) {
  RangeForest forest = protocols::FtcoAllreduce(config.collective, rank_at(0)).forest(0);
  const auto relatives = relatives_of(forest);
  forest.known = relatives.data();
  add_neighbors(forest);
  for (std::int32_t rank = 0; rank < forest.end; ++rank) {
    Process& self = processes_[static_cast<std::size_t>(rank)];
    self.contributions = {protocols::contributions_due(forest, rank, timing_)};
    self.result = {protocols::result_due(forest, rank, timing_, false)};
  }
}

// Those above come first; a root has the other roots there, from the one behind it on.
void PublishedPolling::add_neighbors(const RangeForest& forest) {
  const auto add = [this](std::int32_t process) {
    neighbors_.push_back({.process = process, .mirror = -1, .interval = 0});
  };
  const auto count = [this] { return static_cast<std::int32_t>(neighbors_.size()); };
  for (std::int32_t rank = 0; rank < forest.end; ++rank) {
    Process self{.begin = count(), .below = 0, .end = 0};
    if (const std::int32_t above = forest.parent(rank); above >= 0) add(above);
    if (forest.is_root(rank))
      for (std::int32_t i = 1; i <= forest.fellows(); ++i)
        add(forest.root((forest.tree_of(rank) + i) % forest.roots));
    self.below = count();
    forest.for_each_child(rank, [&](std::int32_t child, std::int32_t) { add(child); });
    self.end = count();
    processes_.push_back(self);
  }
  for (std::int32_t rank = 0; rank < forest.end; ++rank) {
    const Process& self = processes_[static_cast<std::size_t>(rank)];
    for (std::int32_t i = self.begin; i < self.end; ++i) {
      Neighbor& neighbor = neighbors_[static_cast<std::size_t>(i)];
      const Process& other = processes_[static_cast<std::size_t>(neighbor.process)];
      neighbor.interval = static_cast<std::int32_t>(
          std::max(protocols::patience_with(forest, rank, 1, timing_),
                   protocols::patience_with(forest, neighbor.process, 1, timing_)));
      for (std::int32_t j = other.begin; j < other.end; ++j)
        if (neighbors_[static_cast<std::size_t>(j)].process == rank) neighbor.mirror = j;
    }
  }
}

StepTotals PublishedPolling::run(std::span<const Time> entries) {
  reset(entries);
  while (unfinished_ > 0) {
    now_ = std::min(flights_.next(now_), looks_.next(now_));
    if (now_ == never) break;
    digest_.add(static_cast<std::uint64_t>(now_.ticks));
    const auto fetch = [this](std::int32_t rank) {
      __builtin_prefetch(&processes_[static_cast<std::size_t>(rank)], 1);
    };
    flights_.drain(
        now_, [this](const Flight& flight) { arrive(flight); },
        [fetch](const Flight& flight) { fetch(flight.process); });
    looks_.drain(now_, [this](std::int32_t rank) { look(rank); }, fetch);
  }
  totals_.has_ended = unfinished_ == 0;
  for (const Process& self : processes_) {
    totals_.last_entry = std::max(totals_.last_entry, self.enters);
    totals_.longest_queue = std::max(totals_.longest_queue, self.longest);
  }
  totals_.digest = digest_.value();
  return totals_;
}

void PublishedPolling::reset(std::span<const Time> entries) {
  flights_ = TimeWheel<Flight>(2 * (timing_.latency + timing_.overhead));
  looks_ = TimeWheel<std::int32_t>(looks_ahead);
  pool_.clear();
  free_ = -1;
  now_ = {};
  totals_ = {};
  digest_ = {};
  unfinished_ = static_cast<std::int64_t>(processes_.size());
  for (Neighbor& neighbor : neighbors_)
    neighbor = {
        .process = neighbor.process, .mirror = neighbor.mirror, .interval = neighbor.interval};
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    Process& self = processes_[i];
    const Process fresh{.begin = self.begin,
                        .below = self.below,
                        .end = self.end,
                        .contributions = self.contributions,
                        .result = self.result};
    self = fresh;
    self.missing_below = self.end - self.below;
    self.missing_above = self.below - self.begin;
    if (!entries.empty()) self.enters = entries[i];
    look_at(static_cast<std::int32_t>(i), self.enters);
  }
}

void PublishedPolling::arrive(const Flight& flight) {
  Process& self = processes_[static_cast<std::size_t>(flight.process)];
  std::int32_t at = free_;
  if (at >= 0) {
    free_ = pool_[static_cast<std::size_t>(at)].after;
    pool_[static_cast<std::size_t>(at)] = {flight.neighbor, -1};
  } else {
    at = static_cast<std::int32_t>(pool_.size());
    pool_.push_back({flight.neighbor, -1});
  }
  Line& line = self.lines[flight.kind];
  (line.first < 0 ? line.first : pool_[static_cast<std::size_t>(line.last)].after) = at;
  line.last = at;
  self.longest = std::max(self.longest, ++self.length);
  if (self.phase != Phase::finished) look_at(flight.process, now_);
}

void PublishedPolling::look_at(std::int32_t rank, Time when) {
  Process& self = processes_[static_cast<std::size_t>(rank)];
  if (when >= self.looks_next) return;
  self.looks_next = when;
  looks_.push(now_, when, rank);
}

void PublishedPolling::look(std::int32_t rank) {
  Process& self = processes_[static_cast<std::size_t>(rank)];
  if (self.looks_next != now_) return;
  self.looks_next = never;
  if (now_ < self.enters) {
    act_early(self);
    const bool has_more = self.lines[keepalive].first >= 0 || self.lines[acknowledgment].first >= 0;
    look_at(rank, has_more ? now_ + timing_.overhead : self.enters);
    return;
  }
  const bool has_acted = act(self);
  maybe_finish(rank);
  if (self.phase == Phase::finished) return;
  const Time next = has_acted ? now_ : next_question(self);
  if (next != never) look_at(rank, std::max(next, now_ + timing_.overhead));
}

// False: there was nothing to spend the step on.
bool PublishedPolling::act(Process& self) {
  return send_data(self) || receive(self, data) || answer(self) || ask(self) ||
         receive(self, keepalive) || receive(self, acknowledgment);
}

void PublishedPolling::act_early(Process& self) {
  if (Neighbor* const from = take(self, keepalive))
    send(*from, acknowledgment);
  else
    take(self, acknowledgment);
}

bool PublishedPolling::send_data(Process& self) {
  if (self.phase == Phase::collecting && self.missing_below == 0) {
    self.phase = Phase::passing;
    self.next = self.begin;
  }
  if (self.phase == Phase::passing && self.next == self.below) self.phase = Phase::waiting;
  if (self.phase == Phase::waiting && self.missing_above == 0) {
    self.phase = Phase::announcing;
    self.next = self.below;
  }
  const bool is_sending = self.phase == Phase::passing || self.phase == Phase::announcing;
  const std::int32_t end = self.phase == Phase::passing ? self.below : self.end;
  if (!is_sending || self.next == end) return false;
  send(neighbors_[static_cast<std::size_t>(self.next++)], data);
  return true;
}

bool PublishedPolling::receive(Process& self, Kind kind) {
  Neighbor* const from = take(self, kind);
  if (from == nullptr) return false;
  if (kind == data) handle_data(self, *from);
  // An ACK comes from who has heard of this process: it waits for no answer any more.
  const bool owes_answer = kind != acknowledgment;
  self.owed += static_cast<int>(owes_answer) - static_cast<int>(from->owes_answer);
  from->owes_answer = owes_answer;
  return true;
}

void PublishedPolling::handle_data(Process& self, const Neighbor& from) {
  const bool is_below = &from - neighbors_.data() >= self.below;
  --(is_below ? self.missing_below : self.missing_above);
}

bool PublishedPolling::answer(Process& self) {
  for (std::int32_t i = self.begin; self.owed > 0 && i < self.end; ++i) {
    Neighbor& neighbor = neighbors_[static_cast<std::size_t>(i)];
    if (!neighbor.owes_answer) continue;
    send(neighbor, acknowledgment);
    return true;
  }
  return false;
}

// Whether something is late.
bool PublishedPolling::is_missing(const Process& self) const {
  return self.result < now_ || (self.phase == Phase::collecting && self.contributions < now_);
}

bool PublishedPolling::ask(Process& self) {
  if (!is_missing(self)) return false;
  for (std::int32_t i = self.begin; i < self.end; ++i) {
    Neighbor& neighbor = neighbors_[static_cast<std::size_t>(i)];
    if (neighbor.is_asked) continue;
    if (neighbor.is_heard && now_ - neighbor.sent <= neighbor.interval) continue;
    send(neighbor, keepalive);
    return true;
  }
  return false;
}

Time PublishedPolling::next_question(const Process& self) const {
  if (!is_missing(self)) {
    const bool is_collecting = self.phase == Phase::collecting;
    const Time expected = is_collecting ? std::min(self.contributions, self.result) : self.result;
    return expected + timing_.overhead;
  }
  Time next = never;
  for (std::int32_t i = self.begin; i < self.end; ++i) {
    const Neighbor& neighbor = neighbors_[static_cast<std::size_t>(i)];
    if (!neighbor.is_asked) next = std::min(next, neighbor.sent + neighbor.interval + 1);
  }
  return next;
}

// Whoever sends something is alive, and what it was asked is answered.
PublishedPolling::Neighbor* PublishedPolling::take(Process& self, Kind kind) {
  Line& line = self.lines[kind];
  if (line.first < 0) return nullptr;
  const std::int32_t at = line.first;
  Waiting& waiting = pool_[static_cast<std::size_t>(at)];
  line.first = std::exchange(waiting.after, free_);
  free_ = at;
  --self.length;
  Neighbor& from = neighbors_[static_cast<std::size_t>(waiting.neighbor)];
  from.is_asked = false;
  from.is_heard = true;
  return &from;
}

void PublishedPolling::send(Neighbor& to, Kind kind) {
  ++totals_.messages;
  if (kind == keepalive) ++totals_.keepalives;
  Process& self =
      processes_[static_cast<std::size_t>(neighbors_[static_cast<std::size_t>(to.mirror)].process)];
  self.owed -= static_cast<int>(std::exchange(to.owes_answer, false));
  if (kind != acknowledgment) {
    to.is_asked = true;
    to.sent = now_;
  }
  digest_.add(static_cast<std::uint64_t>(to.mirror) << 3 | kind);
  flights_.push(now_, now_ + timing_.latency + timing_.overhead, {to.process, to.mirror, kind});
}

void PublishedPolling::maybe_finish(std::int32_t rank) {
  Process& self = processes_[static_cast<std::size_t>(rank)];
  const bool has_result = self.phase == Phase::waiting && self.missing_above == 0;
  const bool has_told = self.phase == Phase::announcing && self.next == self.end;
  if (!has_told && !(has_result && self.below == self.end)) return;
  self.phase = Phase::finished;
  --unfinished_;
  if (rank == 0) return;
  const Time finish = now_ + timing_.overhead;
  totals_.first_finish = std::min(totals_.first_finish, finish);
  totals_.last_finish = std::max(totals_.last_finish, finish);
}

}  // namespace resprout::sim
