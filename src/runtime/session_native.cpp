// Operations that the library below carries until a loss: see docs/protocols/native.md.
#include "core/invariant.hpp"
#include "runtime/engine.hpp"
#include "runtime/native_call.hpp"
#include "runtime/session.hpp"

namespace resprout::runtime {

bool Session::may_go_natively() const {
  return !is_native_over_ && !is_revoked() && members_->size() == everybody_->size();
}

Outcome Session::run_natively(Lock& lock, NativeCall& call) {
  RESPROUT_INVARIANT(may_go_natively());
  const std::uint64_t number = next_++;
  operations_.emplace_back().carrier = Kept::Carrier::native;
  contributors_.members = members_;
  contributors_.excluded.clear();
  contributors_.root = call.root() < 0 ? no_rank : members_->index_of_comm_rank(call.root());
  // A frame for it: somebody has given it up already.
  const bool is_given_up = has_lost_members() || early_.contains(number);
  lock.unlock();
  const bool has_ended_well = !is_given_up && call.run();
  if (!has_ended_well) call.interrupt();
  lock.lock();
  if (has_ended_well) return note_native_end(lock, number, call);
  return is_revoked() ? give_up_native(number) : settle_native(lock, number, call);
}

Outcome Session::note_native_end(Lock& lock, std::uint64_t number, NativeCall& call) {
  if (call.synchronizes()) forget_before(number);
  Kept& kept = *find_kept(number);
  const std::span<const std::byte> payload = call.payload();
  if (log_.has_room(payload.size())) {
    kept.payload = payload.empty() ? payload : log_.append(payload);
  } else {
    kept.owned = Buffer(payload);
    kept.payload = kept.owned.view();
  }
  if (!early_.empty()) handle_early_frames(number);
  if (has_lost_members()) engine_.settle_later(*this, number);
  if (!call.synchronizes()) synchronize_if_due(lock, payload.size());
  Outcome outcome;
  outcome.is_delivered = true;
  return outcome;
}

// What the session's members got no longer matters to any of them.
Outcome Session::give_up_native(std::uint64_t number) {
  find_kept(number)->payload.emplace();
  note_that_nobody_contributed();
  return {};
}

// An allreduce of "the payload, if it ended well here". If it did so for anybody who lives, it is
// valid for all. Otherwise nobody has left it: from here on nobody uses the library below again.
Outcome Session::settle_native(Lock& lock, std::uint64_t number, NativeCall& call) {
  Operation& settlement = revive_native(*find_kept(number), number);
  if (!early_.empty()) handle_early_frames(number);
  flush(settlement);
  engine_.wait_until(lock, [&] { return settlement.state() != Operation::State::running; });
  const bool is_valid = settlement.result().has_value();
  const auto take = [&](std::span<const std::byte> payload) { call.take(payload); };
  Outcome outcome = finish(settlement, take, is_valid ? After::archive : After::synchronize);
  outcome.is_delivered = is_valid;
  if (!is_valid) {
    is_native_over_ = true;
    note_that_nobody_contributed();
  } else if (call.synchronizes()) {
    forget_before(number);
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
  kept.operation->start(engine_.now(), engine_.lost_members(*members_));
  return *kept.operation;
}

bool Session::has_lost_members() const {
  return is_revoked() || !engine_.lost_members(*members_).empty();
}

}  // namespace resprout::runtime
