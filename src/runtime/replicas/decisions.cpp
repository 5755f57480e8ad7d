#include "runtime/replicas/decisions.hpp"

#include <algorithm>
#include <utility>

#include "core/invariant.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::runtime {

using protocols::DecisionEventKind;
using protocols::DecisionMessage;

Decisions::Decisions(Setup setup, ChannelNetwork& network)
    : setup_(std::move(setup)),
      network_(network),
      machine_({setup_.planes, setup_.window}, rank_at(setup_.self.plane)) {
  machine_.start(context());
  drain(nullptr);
}

// --- the program
// ----------------------------------------------------------------------------------

Decisions::Bytes Decisions::decide(std::uint32_t kind, Pace pace,
                                   const std::function<Bytes()>& find, const Meanwhile& meanwhile) {
  Lock lock(mutex_);
  if (recorded_ == Recorded::repeated) return *again(kind, false);
  if (next(kind, false, meanwhile) == Next::answered) {
    Bytes answer = std::exchange(open_, {}).answer;
    record(kind, answer);
    return answer;
  }
  if (pace == Pace::blocks && maybe_flush())
    wait_until(meanwhile, [&]() RESPROUT_REQUIRES(mutex_) {
      expect_not_deposed();
      return machine_.may_decide(context());
    });
  lock.unlock();
  Bytes answer = find();
  lock.lock();
  expect_not_deposed();
  append({std::exchange(refusals_, 0), true, kind, answer});
  record(kind, answer);
  return answer;
}

std::optional<Decisions::Bytes> Decisions::poll(std::uint32_t kind,
                                                const std::function<std::optional<Bytes>()>& look,
                                                const Meanwhile& meanwhile) {
  Lock lock(mutex_);
  if (recorded_ == Recorded::repeated) return again(kind, true);
  std::optional<Bytes> answer;
  switch (next(kind, true, meanwhile)) {
    case Next::refused:
      record(kind, answer);
      return answer;
    case Next::answered:
      answer = std::exchange(open_, {}).answer;
      record(kind, answer);
      return answer;
    case Next::own:
      break;
  }
  lock.unlock();
  answer = look();
  lock.lock();
  expect_not_deposed();
  record(kind, answer);
  if (answer) {
    append({std::exchange(refusals_, 0), true, kind, *answer});
  } else {
    ++refusals_;
    if (!is_quiet()) maybe_flush();
  }
  return answer;
}

// What the program gets now: something that was decided already, or what it finds out itself.
Decisions::Next Decisions::next(std::uint32_t kind, bool is_poll, const Meanwhile& meanwhile) {
  for (;;) {
    expect_not_deposed();
    if (open_.refusals > 0 || open_.has_answer) {
      check(kind, is_poll);
      if (open_.refusals == 0) return Next::answered;
      --open_.refusals;
      return Next::refused;
    }
    if (machine_.may_decide(context())) return Next::own;
    if (maybe_open_next()) continue;
    wait_until(meanwhile, [&]() RESPROUT_REQUIRES(mutex_) {
      check_end();
      return machine_.may_follow() || machine_.may_decide(context()) || machine_.is_deposed();
    });
  }
}

// The next decision that this process knows is what the program follows now.
bool Decisions::maybe_open_next() {
  if (!machine_.may_follow()) return false;
  const std::uint64_t number = machine_.follow(context());
  open_ = kept_[static_cast<std::size_t>(number - dropped_ - 1)];
  drain(nullptr);
  return true;
}

bool Decisions::announce(Bytes what) {
  const Lock lock(mutex_);
  expect_not_deposed();
  if (!machine_.may_announce()) return false;
  announced_last_ = machine_.announce(context());
  kept_.push_back({0, true, announcement, std::move(what)});
  drain(nullptr);
  return true;
}

Decisions::Announced Decisions::take_announced() {
  const Lock lock(mutex_);
  has_news_ = false;
  return {std::exchange(announced_, {}), machine_.may_announce()};
}

bool Decisions::has_leader_ended() const {
  const Lock lock(mutex_);
  return machine_.is_leading() || machine_.has_ended(machine_.leader());
}

// --- again
// ---------------------------------------------------------------------------------------

void Decisions::restart_record() {
  const Lock lock(mutex_);
  RESPROUT_INVARIANT(recorded_ != Recorded::repeated);
  recorded_ = Recorded::since_checkpoint;
  record_ = {};
}

void Decisions::record(std::uint32_t kind, const std::optional<Bytes>& answer) {
  if (recorded_ == Recorded::since_checkpoint) record_.note(kind, answer);
}

void Decisions::repeat() {
  const Lock lock(mutex_);
  RESPROUT_INVARIANT(recorded_ == Recorded::since_checkpoint && refusals_ == 0);
  recorded_ = Recorded::repeated;
  record_.rewind();
}

void Decisions::stop_repeating() {
  const Lock lock(mutex_);
  RESPROUT_INVARIANT(recorded_ == Recorded::repeated);
  recorded_ = Recorded::since_checkpoint;
  if (!record_.is_through()) diverge("the program is at its checkpoint", "it asked for more");
}

std::optional<Decisions::Bytes> Decisions::again(std::uint32_t kind, bool is_poll) {
  const std::optional<DecisionRecord::Entry> entry = record_.next();
  const bool is_same = entry && (entry->is_answered() ? entry->kind == kind : is_poll);
  if (!is_same) diverge(setup_.name_of(kind) + ", once more,", "something else before");
  return entry->answer;
}

// --- the others' sight
// ---------------------------------------------------------------------------

void Decisions::flush() {
  const Lock lock(mutex_);
  maybe_flush();
}

void Decisions::settle(const Meanwhile& meanwhile) {
  Lock lock(mutex_);
  if (recorded_ == Recorded::repeated) return;
  maybe_flush();
  wait_until(meanwhile, [&]() RESPROUT_REQUIRES(mutex_) {
    expect_not_deposed();
    return machine_.is_settled(context()) && machine_.is_known_to_all(context(), announced_last_);
  });
}

void Decisions::finish(const Meanwhile& meanwhile) {
  settle(meanwhile);
  const Lock lock(mutex_);
  if (open_.refusals > 0 || open_.has_answer || machine_.may_follow())
    diverge("the program ends", "it goes on");
  machine_.finish(context());
  drain(nullptr);
}

template <typename Condition>
void Decisions::wait_until(const Meanwhile& meanwhile, Condition condition) {
  Idle idle(setup_.idle);
  while (!condition()) {
    mutex_.unlock();
    meanwhile();
    idle.pause();
    mutex_.lock();
  }
}

// --- what must not be
// -----------------------------------------------------------------------------

void Decisions::check(std::uint32_t kind, bool is_poll) const {
  if (open_.refusals > 0) {
    if (!is_poll) diverge(setup_.name_of(kind), "a call that has said no");
  } else if (open_.kind != kind) {
    diverge(setup_.name_of(kind), setup_.name_of(open_.kind));
  }
}

// Who leads has ended, all that it has decided was followed, and the program wants more.
void Decisions::check_end() const {
  if (machine_.is_leading() || machine_.may_follow() || !machine_.has_ended(machine_.leader()))
    return;
  diverge("the program goes on", "it has ended");
}

void Decisions::diverge(const std::string& here, const std::string& there) const {
  throw DecisionError(DecisionError::Why::diverged,
                      "the replicas of rank " + std::to_string(setup_.self.rank) +
                          " have diverged: in plane " + std::to_string(setup_.self.plane) + " " +
                          here + ", in " + leader() + " " + there);
}

void Decisions::expect_not_deposed() const {
  if (!machine_.is_deposed()) return;
  throw DecisionError(DecisionError::Why::deposed,
                      "the other planes have given up plane " + std::to_string(setup_.self.plane) +
                          ": rank " + std::to_string(setup_.self.rank) +
                          " of it could not be reached");
}

std::string Decisions::leader() const {
  return "plane " + std::to_string(index(machine_.leader()));
}

// --- the log
// --------------------------------------------------------------------------------------

// REQUIRES: it leads, and there was room; announcements may have taken it meanwhile.
void Decisions::append(Decision decision) {
  machine_.decide(context());
  kept_.push_back(std::move(decision));
  said_at_ = monotonic_ns();
  drain(nullptr);
}

// Says what was counted. Whether there was anything. Who has counted had room for a decision, and
// nobody else takes it.
bool Decisions::maybe_flush() {
  if (refusals_ == 0 || machine_.is_deposed()) return false;
  append({std::exchange(refusals_, 0), false, 0, {}});
  return true;
}

bool Decisions::is_quiet() const { return monotonic_ns() - said_at_ < setup_.quiet_ns; }

void Decisions::handle(Replica from, std::span<const std::byte> frame) {
  if (from.rank != setup_.self.rank) return;
  const auto read = read_decision_frame(frame, setup_.planes);
  if (!read || index(read->message.from) != from.plane ||
      index(read->message.to) != setup_.self.plane)
    return;
  const Lock lock(mutex_);
  machine_.handle_message(context(), read->message);
  drain(&*read);
}

void Decisions::lose_plane(std::int32_t plane) {
  const Lock lock(mutex_);
  const Rank rank = rank_at(plane);
  if (plane == setup_.self.plane || context().suspects.contains(rank)) return;
  suspects_.insert(std::upper_bound(suspects_.begin(), suspects_.end(), rank), rank);
  machine_.handle_suspicion(context(), rank);
  drain(nullptr);
}

void Decisions::keep_learned(const DecisionFrame& arrived, std::uint64_t first,
                             std::uint64_t last) {
  std::uint64_t announcements = 0;
  for (std::uint64_t number = first; number <= last; ++number) {
    const Decision& learned =
        arrived.decisions[static_cast<std::size_t>(number - arrived.message.first)];
    kept_.push_back(learned);
    if (!learned.is_announcement()) continue;
    announced_.push_back(learned.answer);
    announced_last_ = number;
    ++announcements;
  }
  machine_.note_announcements(announcements);
  if (announcements > 0) has_news_ = true;
}

// The program has nothing to do with it: it was taken when it came.
bool Decisions::maybe_skip_announcement() {
  if (!machine_.may_follow()) return false;
  if (!kept_[static_cast<std::size_t>(machine_.followed() - dropped_)].is_announcement())
    return false;
  machine_.follow(context());
  return true;
}

// Does what the machine says. `arrived`: the frame that it has just handled.
void Decisions::drain(const DecisionFrame* arrived) {
  drain_events(arrived);
  while (maybe_skip_announcement()) drain_events(nullptr);
  while (const auto message = machine_.poll_send(context())) send(*message);
}

void Decisions::drain_events(const DecisionFrame* arrived) {
  while (const auto event = machine_.poll_event(context())) {
    switch (event->kind) {
      case DecisionEventKind::learn:
        RESPROUT_INVARIANT(arrived != nullptr && event->first == dropped_ + kept_.size() + 1);
        keep_learned(*arrived, event->first, event->last);
        break;
      case DecisionEventKind::release:
        kept_.erase(kept_.begin(),
                    kept_.begin() + static_cast<std::ptrdiff_t>(event->last - dropped_));
        dropped_ = event->last;
        break;
      case DecisionEventKind::lead:
        has_news_ = true;
        break;
      case DecisionEventKind::depose:
        break;  // asked for where it matters
    }
  }
}

void Decisions::send(const DecisionMessage& message) {
  DecisionFrame frame{message, {}};
  for (std::uint64_t i = 0; i < message.count; ++i)
    frame.decisions.push_back(kept_[static_cast<std::size_t>(message.first + i - dropped_ - 1)]);
  network_.send({index(message.to), setup_.self.rank}, Channel::decisions, bytes_of(frame));
}

bool Decisions::is_leading() const {
  const Lock lock(mutex_);
  return machine_.is_leading();
}

std::size_t Decisions::kept() const {
  const Lock lock(mutex_);
  return kept_.size();
}

}  // namespace resprout::runtime
