#include "runtime/started.hpp"

#include "core/invariant.hpp"
#include "runtime/announcement.hpp"

namespace resprout::runtime {

void Started::begin(std::unique_ptr<Operation> operation, Session::After after, Behind behind) {
  RESPROUT_INVARIANT(stage_ != Stage::operation);
  number_ = operation->number();
  after_ = after;
  behind_ = behind;
  root_ = no_rank;
  bytes_ = 0;
  outcome_ = {};
  stage_ = Stage::operation;
  Operation& running = *operation;
  session_.log_.add(std::move(operation));
  session_.start(running);
}

void Started::allreduce(const ReduceSpec& spec, std::span<const std::byte> input,
                        Combiner& combiner) {
  Operation::Setup with = session_.setup();
  with.input = input;
  with.combiner = &combiner;
  begin(make_allreduce(std::move(with), spec), Session::After::synchronize, Behind::nothing);
}

void Started::agree(const ReduceSpec& spec, std::span<const std::byte> input, Combiner& combiner) {
  Operation::Setup with = session_.setup();
  with.input = input;
  with.combiner = &combiner;
  begin(make_agreement(std::move(with), spec), Session::After::synchronize, Behind::nothing);
}

void Started::allgather(const ReduceSpec& spec, Buffer input) {
  begin(make_allreduce(session_.concatenation(std::move(input)), spec), Session::After::synchronize,
        Behind::barrier_if_large);
}

void Started::barrier() {
  begin(session_.make_barrier(), Session::After::synchronize, Behind::nothing);
}

void Started::reduce(const ReduceSpec& spec, int root, std::span<const std::byte> input,
                     Combiner& combiner) {
  const Rank root_member = session_.members_->index_of_comm_rank(root);
  if (root_member == no_rank) return end_without_root(true);
  Operation::Setup with = session_.setup();
  with.input = input;
  with.combiner = &combiner;
  begin(make_reduce(std::move(with), spec, root_member), Session::After::drop,
        Behind::barrier_if_due);
}

void Started::gather(const ReduceSpec& spec, int root, Buffer input) {
  const Rank root_member = session_.members_->index_of_comm_rank(root);
  if (root_member == no_rank) return end_without_root(true);
  begin(make_reduce(session_.concatenation(std::move(input)), spec, root_member),
        Session::After::drop, Behind::barrier_if_due);
}

void Started::broadcast(const BroadcastSpec& spec, int root, std::span<const std::byte> payload) {
  const Rank root_member = session_.members_->index_of_comm_rank(root);
  if (root_member == no_rank) return end_without_root(false);
  const bool is_root = session_.members_->self() == root_member;
  if (session_.goes_directly(spec, is_root, payload.size())) {
    number_ = session_.start_directly(spec, root_member, payload);
    after_ = Session::After::archive;
    behind_ = Behind::barrier_if_due;
    outcome_ = {};
    stage_ = Stage::operation;
  } else {
    if (spec.needs_clock()) session_.progress_.need_clock();
    Operation::Setup with = session_.setup();
    if (is_root) with.input = payload;
    begin(make_broadcast(std::move(with), spec, root_member),
          payload.size() >= large_bytes ? Session::After::leave : Session::After::archive,
          Behind::barrier_if_due);
  }
  root_ = root_member;
  bytes_ = payload.size();
}

void Started::end_without_root(bool is_delivered) {
  session_.contributors().clear();
  outcome_ = {};
  outcome_.is_delivered = is_delivered && !session_.is_revoked();
  stage_ = Stage::over;
}

bool Started::is_through() const { return session_.advance(*session_.log_.find(number_), number_); }

bool Started::advance(ResultConsumer consume) {
  if (stage_ == Stage::operation && is_through()) end(consume);
  if (stage_ == Stage::barrier && is_through()) {
    session_.finish(*session_.find(number_), nullptr, Session::After::synchronize);
    stage_ = Stage::over;
  }
  return stage_ == Stage::over;
}

Outcome Started::wait(Lock& lock, ResultConsumer consume) {
  session_.progress_.wait_until(lock, [&] { return advance(consume); });
  return outcome_;
}

void Started::end(ResultConsumer consume) {
  std::size_t result_bytes = 0;
  std::size_t kept_bytes = bytes_;
  bool is_too_much = false;
  const auto measure = [&](std::span<const std::byte> result) {
    result_bytes = result.size();
    is_too_much = root_ != no_rank && (result_bytes > bytes_ || is_announcement(result, bytes_));
    if (root_ != no_rank) kept_bytes = result_bytes;
    if (consume && !is_too_much) consume(result);
  };
  outcome_ = session_.finish_record(*session_.log_.find(number_), measure, after_);
  if (is_too_much) outcome_.is_mismatched = true;
  session_.note_contributors(outcome_, root_);
  if (root_ != no_rank && !outcome_.is_delivered) session_.part_from_the_lost();
  const bool is_barrier_due = behind_ == Behind::barrier_if_due
                                  ? session_.log_.note_unsynchronized(kept_bytes)
                              : behind_ == Behind::barrier_if_large ? result_bytes >= large_bytes
                                                                    : false;
  if (is_barrier_due)
    begin_barrier();
  else
    stage_ = Stage::over;
}

void Started::begin_barrier() {
  std::unique_ptr<Operation> barrier = session_.make_barrier();
  Operation& running = *barrier;
  number_ = running.number();
  session_.log_.add(std::move(barrier));
  stage_ = Stage::barrier;
  session_.start(running);
}

}  // namespace resprout::runtime
