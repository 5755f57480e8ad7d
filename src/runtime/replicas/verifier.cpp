#include "runtime/replicas/verifier.hpp"

#include <bit>
#include <tuple>

#include "core/invariant.hpp"
#include "runtime/mutex.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::runtime {

using protocols::VoteEvent;
using protocols::VoteEventKind;

bool Verifier::NameLess::operator()(const MessageName& a, const MessageName& b) const {
  const auto key = [](const MessageName& name) {
    const Stream& s = name.stream;
    return std::tuple(s.communicator, s.sender, s.receiver, s.tag, s.of, name.number);
  };
  return key(a) < key(b);
}

Verifier::Verifier(const Votes::Setup& setup, VoteNetwork& network, OnFinding on_finding,
                   IdleStrategy idle, VerifierPatience patience)
    : setup_(setup),
      on_finding_(std::move(on_finding)),
      idle_(idle),
      patience_(patience),
      network_(network),
      may_defer_(defers()),
      votes_(
          setup, network,
          [this](const MessageName& name, const VoteEvent& event, std::span<const std::byte> bytes)
              RESPROUT_REQUIRES(mutex_) { note(name, event, bytes); },
          {.agreed = [this](const MessageName&) RESPROUT_REQUIRES(mutex_) { ++verified_; },
           .has_machine =
               [this](const MessageName& name, const Votes::Label& label)
                   RESPROUT_REQUIRES(mutex_) {
                     add_record({name, label.call, label.bytes, {}}, false).is_delivered = true;
                   },
           .absent = [this](const MessageName& name, std::int32_t plane)
                         RESPROUT_REQUIRES(mutex_) { absent_[name] |= 1U << plane; }}) {}

// --- the program
// ----------------------------------------------------------------------------------

bool Verifier::defers() const {
  return patience_.deferred_max > 0 && setup_.config.is_lazy() && setup_.config.sends_digests() &&
         !setup_.keeps_copies && !setup_.stands_in();
}

// What is found by that is said before anything else is done.
void Verifier::vote_and_say() {
  vote_on_deferred();
  while (!unsaid_.empty()) say();
}

// Not checked: the check does not see who has what is moved.
RESPROUT_NOT_CHECKED Verifier::Lock Verifier::lock_votes() {
  Lock lock(mutex_);
  vote_and_say();
  return lock;
}

bool Verifier::maybe_defer(Deferred what) {
  if (!may_defer_.load(std::memory_order_relaxed)) return false;
  std::size_t count = 0;
  {
    const MutexLock lock(writing_);
    written_.push_back(std::move(what));
    count = written_.size();
    deferred_.store(count, std::memory_order_relaxed);
  }
  if (count >= patience_.deferred_max || (count == 1 && !network_.expect())) catch_up();
  return true;
}

void Verifier::catch_up() {
  if (deferred_.load(std::memory_order_relaxed) == 0) return;
  Lock lock = lock_votes();
  say();
}

void Verifier::vote_on_deferred() {
  if (deferred_.load(std::memory_order_relaxed) == 0) return;
  {
    const MutexLock lock(writing_);
    std::swap(written_, voted_on_);
    deferred_.store(0, std::memory_order_relaxed);
  }
  for (const Deferred& done : voted_on_) vote_on(done);
  voted_on_.clear();
  note_load();
}

void Verifier::vote_on(const Deferred& done) {
  using Step = Deferred::Step;
  if (done.step == Step::send) return votes_.send(done.what.name, done.digest, {});
  if (done.step == Step::compare) votes_.send(done.what.name, done.digest);
  if (maybe_receive_plain(done.what, done.digest)) return;
  add_record(done.what, false);
  votes_.receive(done.what.name, done.what.digest_of, done.digest);
}

void Verifier::send(const MessageName& name, std::uint64_t digest,
                    std::span<const std::byte> bytes) {
  if (maybe_defer({Deferred::Step::send, {.name = name}, digest})) return;
  Lock lock = lock_votes();
  if (is_repeating_) return;
  votes_.send(name, digest, bytes);
  say();
}

Verifier::Record& Verifier::add_record(const Expected& expected, bool is_awaited) {
  Record& record = records_[expected.name];
  record.call = expected.call;
  record.bytes = expected.bytes;
  record.is_awaited = is_awaited;
  return record;
}

bool Verifier::receive_copy(const Expected& expected, std::uint64_t digest) {
  if (maybe_defer({Deferred::Step::receive, expected, digest})) return true;
  Lock lock = lock_votes();
  if (is_repeating_) return true;
  const bool is_plain = maybe_receive_plain(expected, digest);
  if (!is_plain) {
    add_record(expected, true);
    votes_.receive(expected.name, expected.digest_of, digest);
  }
  say();
  return is_plain;
}

bool Verifier::maybe_receive_plain(const Expected& expected, std::uint64_t digest) {
  return votes_.maybe_receive_plain(expected.name,
                                    {expected.call, expected.bytes, expected.digest_of}, digest);
}

void Verifier::receive(const Expected& expected, bool is_awaited) {
  Lock lock = lock_votes();
  if (is_repeating_) return;
  add_record(expected, is_awaited);
  votes_.receive(expected.name, expected.digest_of);
  say();
}

void Verifier::compare(const Expected& what, std::uint64_t digest, bool is_awaited) {
  if (!is_awaited && maybe_defer({Deferred::Step::compare, what, digest})) return;
  Lock lock = lock_votes();
  if (is_repeating_) return;
  votes_.send(what.name, digest);
  if (is_awaited || !maybe_receive_plain(what, digest)) {
    add_record(what, is_awaited);
    votes_.receive(what.name, what.digest_of, digest);
  }
  say();
}

void Verifier::abstain(const MessageName& name) {
  Lock lock = lock_votes();
  if (is_repeating_) return;
  votes_.abstain(name);
  if (name.stream.of != Stream::Of::messages) ++unverified_;
  say();
}

void Verifier::take_own_copy(const MessageName& name, std::uint64_t digest) {
  Lock lock = lock_votes();
  if (is_repeating_) return;
  votes_.take_own_copy(name, digest);
  say();
}

Verifier::Delivery Verifier::wait(const MessageName& name, const Meanwhile& meanwhile) {
  Lock lock = lock_votes();
  if (is_repeating_) return {};
  const auto at = records_.find(name);
  RESPROUT_INVARIANT(at != records_.end() && at->second.is_awaited);
  // What is found ends this process, perhaps: nothing is done with it before that is said.
  wait_until(meanwhile,
             [&]() RESPROUT_REQUIRES(mutex_) { return at->second.is_delivered && saying_ == 0; });
  const std::unique_ptr<Delivery> other = std::move(at->second.delivery);
  at->second.is_awaited = false;
  if (at->second.is_over) records_.erase(at);
  return other ? std::move(*other) : Delivery{};
}

bool Verifier::is_coming(const MessageName& name) {
  const Lock lock = lock_votes();
  const auto at = records_.find(name);
  RESPROUT_INVARIANT(at != records_.end() && at->second.is_awaited);
  if (at->second.is_delivered || votes_.has_heard(name)) return true;
  ask_if_late();
  return false;
}

void Verifier::finish_own(const Meanwhile& meanwhile) {
  Lock lock = lock_votes();
  votes_.end();
  wait_until(meanwhile,
             [&]() RESPROUT_REQUIRES(mutex_) { return votes_.are_all_over() && saying_ == 0; });
}

void Verifier::finish(const Meanwhile& meanwhile, const std::function<void()>& barrier) {
  finish_own(meanwhile);
  barrier();
  Lock lock = lock_votes();
  votes_.finish_own_plane();
  wait_until(meanwhile, [&]() RESPROUT_REQUIRES(mutex_) { return votes_.are_planes_over(); });
}

void Verifier::settle(const Meanwhile& meanwhile) {
  Lock lock = lock_votes();
  wait_until(meanwhile,
             [&]() RESPROUT_REQUIRES(mutex_) { return votes_.are_all_settled() && saying_ == 0; });
}

void Verifier::repeat() {
  const Lock lock = lock_votes();
  is_repeating_ = true;
  may_defer_.store(false);
}

void Verifier::stop_repeating() {
  const Lock lock = lock_votes();
  is_repeating_ = false;
  may_defer_.store(defers());
  votes_.forgive();
  note_load();
}

template <typename Condition>
void Verifier::wait_until(const Meanwhile& meanwhile, Condition condition) {
  Idle idle(idle_);
  ask_at_ = coarse_ns() + patience_.late_ns;
  while (!condition()) {
    mutex_.unlock();
    meanwhile();
    idle.pause();
    mutex_.lock();
    vote_and_say();
    ask_if_late();
  }
}

void Verifier::ask_if_late() {
  if (coarse_ns() < ask_at_) return;
  votes_.ask_who_is_late();
  ask_at_ = coarse_ns() + patience_.late_ns;
}

// --- the links
// ------------------------------------------------------------------------------------

void Verifier::handle(Replica from, std::span<const std::byte> frame) {
  const auto read = read_vote_frame(frame, setup_.config);
  if (!read) return;
  Lock lock = lock_votes();
  votes_.handle(from, *read, frame.subspan(sizeof(VoteFrame)));
  say();
}

void Verifier::lose_plane(std::int32_t plane) {
  Lock lock = lock_votes();
  votes_.lose_plane(plane);
  say();
}

void Verifier::lose(Replica process) {
  Lock lock = lock_votes();
  votes_.lose(process);
  say();
}

// --- what the votes say
// ---------------------------------------------------------------------------

void Verifier::note(const MessageName& name, const VoteEvent& event,
                    std::span<const std::byte> bytes) {
  const auto at = records_.find(name);
  RESPROUT_INVARIANT(at != records_.end());
  Record& record = at->second;
  const std::int32_t plane = event.origin == no_rank ? 0 : setup_.config.replica(event.origin);
  switch (event.kind) {
    case VoteEventKind::deliver:
      record.is_delivered = true;
      if (plane == setup_.self.plane && bytes.empty()) break;
      // It is another call that this process is in.
      if (name.stream.of == Stream::Of::contributions && bytes.size() != record.bytes)
        record.is_tainted = true;
      // Of what does not come inside of the plane it was not known.
      if (name.stream.of == Stream::Of::messages) record.bytes = bytes.size();
      record.delivery =
          std::make_unique<Delivery>(Delivery{Delivery::What::other, {bytes.begin(), bytes.end()}});
      break;
    case VoteEventKind::mismatch:
      record.is_worth_saying = true;
      break;
    case VoteEventKind::outvote:
      record.wrong_planes |= static_cast<std::uint8_t>(1U << plane);
      break;
    case VoteEventKind::taint:
      record.is_tainted = true;
      break;
    case VoteEventKind::repair:
      record.is_replaced = true;
      break;
    case VoteEventKind::confirm:
      break;
    case VoteEventKind::finish:
    case VoteEventKind::undecided:
    case VoteEventKind::lost:
      end(name, record, event);
      if (!record.is_awaited) records_.erase(at);
      break;
  }
}

void Verifier::end(const MessageName& name, Record& record, const VoteEvent& event) {
  record.is_over = true;
  if (event.kind == VoteEventKind::finish) {
    ++(event.agreeing < 2 ? unverified_ : verified_);
  } else {
    ++verified_;
    const bool is_lost = event.kind == VoteEventKind::lost;
    record.is_worth_saying = true;
    record.end = is_lost ? Finding::End::lost : Finding::End::undecided;
    if (!record.is_delivered)
      record.delivery = std::make_unique<Delivery>(
          Delivery{is_lost ? Delivery::What::lost : Delivery::What::undecided, {}});
    record.is_delivered = true;
  }
  const auto absent = absent_.extract(name);
  const std::uint32_t absent_planes = absent.empty() ? 0 : absent.mapped();
  if (absent_planes != 0 && event.kind == VoteEventKind::finish)
    judge(record, absent_planes, event.agreeing);
  if (!record.is_worth_saying) return;
  unsaid_.push_back(finding_of(name, record));
  unsaid_.back().digest = votes_.verdict_of(name);
  unsaid_.back().absent_planes = absent_planes;
}

// Two that have it out-vote one that does not, and the other way round.
void Verifier::judge(Record& record, std::uint32_t absent_planes, std::int32_t agreeing) {
  record.is_worth_saying = true;
  if (std::popcount(absent_planes) > 1) {
    record.wrong_planes |= static_cast<std::uint8_t>(1U << setup_.self.plane);
    record.is_tainted = true;
  } else if (agreeing > 1) {
    record.wrong_planes |= static_cast<std::uint8_t>(absent_planes);
  } else {
    record.end = Finding::End::undecided;
  }
}

Finding Verifier::finding_of(const MessageName& name, const Record& record) {
  return {.name = name,
          .call = record.call,
          .bytes = record.bytes,
          .wrong_planes = record.wrong_planes,
          .is_tainted = record.is_tainted,
          .is_replaced = record.is_replaced,
          .end = record.end,
          .digest = {}};
}

void Verifier::note_load() {
  const Votes::Load load = votes_.load();
  open_.store(load.open, std::memory_order_relaxed);
  history_.note(coarse_ns(), {static_cast<double>(load.open), static_cast<double>(load.bytes)});
}

void Verifier::say() {
  note_load();
  if (unsaid_.empty()) return;
  const std::vector<Finding> found = std::exchange(unsaid_, {});
  ++saying_;
  mutex_.unlock();
  for (const Finding& finding : found) on_finding_(finding);
  mutex_.lock();
  --saying_;
}

Verifier::Figures Verifier::figures() {
  const Lock lock = lock_votes();
  const Votes::Load most = votes_.load_max();
  return {verified_, unverified_, most.open, most.bytes};
}

LoadHistory::Means Verifier::history() {
  const Lock lock = lock_votes();
  return history_.means();
}

bool Verifier::is_agreed() {
  const Lock lock = lock_votes();
  return votes_.are_all_confirmed();
}

}  // namespace resprout::runtime
