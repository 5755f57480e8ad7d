// Operations that the library below carries until a loss: see docs/explanation/protocols/native.md.
#include "core/invariant.hpp"
#include "runtime/native_call.hpp"
#include "runtime/session.hpp"

namespace resprout::runtime {

bool Session::may_go_natively() const {
  return !is_native_over_ && !is_revoked() && members_->size() == everybody_->size();
}

Outcome Session::run_natively(Lock& lock, NativeCall& call) {
  RESPROUT_INVARIANT(may_go_natively());
  is_below_.store(true, std::memory_order_relaxed);
  const bool is_not_entered = is_given_up(lock);
  if (lock.owns_lock()) lock.unlock();
  const bool has_ended_well = !is_not_entered && call.run();
  if (!has_ended_well && !is_revoked()) call.interrupt();  // else nobody waits for a word of ours
  lock.lock();
  is_below_.store(false, std::memory_order_relaxed);
  if (has_ended_well) return note_native_end(lock, call);
  if (is_revoked()) return give_up();
  return settle_native(lock, keep_native(call), call);
}

// Mostly nobody is lost, and there is nothing to lock for. Who has given it up then, because of a
// loss of which nothing is known here, has interrupted it before.
bool Session::is_given_up(Lock& lock) {
  if (progress_.losses().count() == 0 && !is_revoked()) return false;
  if (!lock.owns_lock()) lock.lock();
  return has_lost_members() || log_.has_early(log_.next());
}

// The operation that the library below has let go. Before that nothing has to be known of it:
// frames for it are early ones.
Kept& Session::keep_native(const NativeCall& call) {
  log_.take_number();
  Kept& kept = log_.add();
  kept.carrier = Kept::Carrier::native;
  contributors_.set(members_, {},
                    call.root() < 0 ? no_rank : members_->index_of_comm_rank(call.root()));
  return kept;
}

Outcome Session::note_native_end(Lock& lock, NativeCall& call) {
  const std::uint64_t number = log_.next();
  if (call.synchronizes()) log_.forget_before(number);
  const std::span<const std::byte> payload = call.payload();
  Kept& kept = keep_native(call);
  if (log_.payloads().has_room(payload.size())) {
    kept.payload = payload.empty() ? payload : log_.payloads().append(payload);
  } else {
    kept.owned = Buffer(payload);
    kept.payload = kept.owned.view();
  }
  if (log_.has_early()) handle_early_frames(number);
  if (has_lost_members()) progress_.agenda().settle_later(*this, number);
  if (!call.synchronizes()) synchronize_if_due(lock, payload.size());
  Outcome outcome;
  outcome.is_delivered = true;
  return outcome;
}

// An allreduce of "the payload, if it ended well here". If it did so for anybody who lives, it is
// valid for all. Otherwise nobody has left it: from here on nobody uses the library below again.
Outcome Session::settle_native(Lock& lock, Kept& kept, NativeCall& call) {
  const std::uint64_t number = log_.next() - 1;
  Operation& settlement = revive_native(kept, number);
  if (log_.has_early()) handle_early_frames(number);
  flush(settlement);
  progress_.wait_until(lock, [&] { return settlement.state() != Operation::State::running; });
  const bool is_valid = settlement.result().has_value();
  const auto take = [&](std::span<const std::byte> payload) { call.take(payload); };
  Outcome outcome = finish(settlement, take, is_valid ? After::archive : After::synchronize);
  outcome.is_delivered = is_valid && outcome.is_delivered;
  if (!is_valid) {
    is_native_over_ = true;
    contributors_.clear();
  } else if (call.synchronizes()) {
    log_.forget_before(number);
  } else {
    synchronize_if_due(lock, settlement.result()->size());
  }
  return outcome;
}

Operation& Session::revive_native(Kept& kept, std::uint64_t number) {
  Operation::Setup with;
  with.number = number;
  with.members = members_;
  with.outlet = this;
  if (kept.payload) {
    with.owned_input = Buffer(*kept.payload);
    with.input = with.owned_input.view();
  }
  const ReduceSpec spec = prefers_star_ ? ReduceSpec::star() : ReduceSpec{};
  kept.operation = make_allreduce(std::move(with), spec);
  kept.operation->start(progress_.now(), progress_.losses().among(*members_));
  return *kept.operation;
}

bool Session::is_behind(int world_rank) const {
  return standstill.has_passed(world_rank) || log_.has_early_of(world_rank);
}

bool Session::has_lost_members() const {
  return is_revoked() ||
         (progress_.losses().count() != 0 && !progress_.losses().among(*members_).empty());
}

}  // namespace resprout::runtime
