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
  // Mostly nobody is lost, and there is nothing to lock for. Who has given it up then, because of a
  // loss of which nothing is known here, has interrupted it before.
  const auto is_given_up = [&] {
    if (progress_.losses().count() == 0 && !is_revoked()) return false;
    if (!lock.owns_lock()) lock.lock();
    return has_lost_members() || (!call.is_voted_on() && log_.has_early(log_.next()));
  };
  const bool is_not_entered = is_given_up();
  if (lock.owns_lock()) lock.unlock();
  const bool has_ended_well = !is_not_entered && call.run();
  if (!has_ended_well && !is_revoked()) call.interrupt();  // else nobody waits for a word of ours
  lock.lock();
  is_below_.store(false, std::memory_order_relaxed);
  if (call.is_voted_on()) return vote(lock, call.root(), has_ended_well);
  if (has_ended_well) return note_native_end(lock, call);
  if (is_revoked()) return give_up();
  return settle_native(lock, keep_native(call), call);
}

// The operation that the library below has let go. Before that nothing has to be known of it:
// frames for it are early ones.
OperationRecord& Session::keep_native(const NativeCall& call) {
  log_.take_number();
  OperationRecord& record = log_.add();
  record.carrier = OperationRecord::Carrier::native;
  const Rank root = call.root() < 0 ? no_rank : members_->index_of_comm_rank(call.root());
  record.form = call.form();
  if (record.form == NativeCall::Form::gather) record.root = root;
  contributors_.set(members_, {}, record.is_given_again() ? no_rank : root);
  return record;
}

Outcome Session::note_native_end(Lock& lock, NativeCall& call) {
  const std::uint64_t number = log_.next();
  if (call.synchronizes()) log_.forget_before(number);
  const std::span<const std::byte> payload = call.payload();
  OperationRecord& record = keep_native(call);
  record.is_summed = call.form() == NativeCall::Form::scan;
  log_.payloads().keep(payload, record);
  if (log_.has_early()) handle_early_frames(number);
  if (has_lost_members()) progress_.agenda().settle_later(*this, number);
  if (!call.synchronizes()) synchronize_if_due(lock, call.kept_bytes());
  Outcome outcome;
  outcome.is_delivered = true;
  return outcome;
}

namespace {

// Of what settles native operations.
ReduceSpec spec_for(bool prefers_star) { return prefers_star ? ReduceSpec::star() : ReduceSpec{}; }

// One byte of each: 1 if it agrees.
class Unanimity final : public Combiner {
 public:
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    upper[0] &= lower[0];
  }
  bool is_commutative() const override { return true; }
  bool is_for_program() const override { return false; }
};

}  // namespace

// If somebody who lives has not got it, nobody keeps it, and nobody uses the library below again.
Outcome Session::vote(Lock& lock, int root, bool has_ended_well) {
  if (is_revoked()) return give_up();
  const auto all = members_;
  const Rank root_member = root < 0 ? no_rank : all->index_of_comm_rank(root);
  const std::byte own{has_ended_well};
  Unanimity unanimity;
  Operation::Setup with = setup();
  with.input = {&own, 1};
  with.combiner = &unanimity;
  bool is_valid = false;
  const auto consume = [&](std::span<const std::byte> result) {
    is_valid = result[0] != std::byte{0};
  };
  Outcome outcome = run(lock, make_allreduce(std::move(with), spec_for(prefers_star_)), consume,
                        After::synchronize, OperationRecord::Carrier::native);
  outcome.is_delivered = outcome.is_delivered && is_valid;
  if (is_valid) {
    contributors_.set(all, {}, root_member);
  } else {
    is_native_over_ = true;
    contributors_.clear();
  }
  return outcome;
}

// An allreduce of "the payload, if it ended well here". If it did so for anybody who lives, it is
// valid for all. Otherwise nobody has left it: from here on nobody uses the library below again. A
// gather or a scan is done once more, by those to whom it ended well, too, as they hear of the
// loss: mostly others have gone on, and which of theirs are through nobody else knows.
Outcome Session::settle_native(Lock& lock, OperationRecord& record, NativeCall& call) {
  const std::uint64_t number = log_.next() - 1;
  const bool is_given_again = record.is_given_again();
  if (is_given_again) log_.payloads().keep(call.payload(), record);
  Operation& settlement = revive_native(record, number);
  if (log_.has_early()) handle_early_frames(number);
  flush(settlement);
  progress_.wait_until(lock, [&] { return settlement.state() != Operation::State::running; });
  const bool is_valid = is_given_again || settlement.result().has_value();
  const auto take = [&](std::span<const std::byte> payload) { call.take(payload); };
  Outcome outcome = finish(settlement, take, is_valid ? After::archive : After::synchronize);
  outcome.is_delivered = is_valid && outcome.is_delivered;
  if (is_given_again) {
    note_contributors(outcome);
    synchronize_if_due(lock, call.kept_bytes());
  } else if (!is_valid) {
    is_native_over_ = true;
    contributors_.clear();
  } else if (call.synchronizes()) {
    log_.forget_before(number);
  } else {
    synchronize_if_due(lock, settlement.result()->size());
  }
  return outcome;
}

Operation& Session::revive_native(OperationRecord& record, std::uint64_t number) {
  Operation::Setup with;
  with.number = number;
  with.members = members_;
  with.outlet = this;
  if (record.payload) {
    with.owned_input = Buffer(*record.payload);
    with.input = with.owned_input.view();
  }
  with.concatenates = record.is_given_again();
  const ReduceSpec spec = spec_for(prefers_star_);
  switch (record.form) {
    case NativeCall::Form::handed_on:
      record.operation = make_allreduce(std::move(with), spec);
      break;
    case NativeCall::Form::gather:
      record.operation = make_reduce(std::move(with), spec, record.root);
      break;
    case NativeCall::Form::scan:
      record.operation = make_prefix_chain(std::move(with), record.is_summed);
      break;
  }
  record.operation->start(progress_.now(), progress_.losses().among(*members_));
  return *record.operation;
}

bool Session::is_behind(int world_rank) const {
  return standstill.has_passed(world_rank) || log_.has_early_of(world_rank);
}

bool Session::has_lost_members() const {
  return is_revoked() ||
         (progress_.losses().count() != 0 && !progress_.losses().among(*members_).empty());
}

}  // namespace resprout::runtime
