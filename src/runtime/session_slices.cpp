// An allreduce in slices: see docs/explanation/protocols/slices.md.
#include <algorithm>

#include "runtime/session.hpp"

namespace resprout::runtime {
namespace {

// What the parts of one call come to.
void add(Outcome& sum, const Outcome& part) {
  sum.is_delivered = sum.is_delivered && part.is_delivered;
  sum.is_touched = sum.is_touched || part.is_touched;
  sum.is_mismatched = sum.is_mismatched || part.is_mismatched;
  sum.recovery_ns = std::max(sum.recovery_ns, part.recovery_ns);
  for (const int rank : part.lost)
    if (std::find(sum.lost.begin(), sum.lost.end(), rank) == sum.lost.end())
      sum.lost.push_back(rank);
}

}  // namespace

Outcome Session::allreduce_in_slices(Lock& lock, const ReduceSpec& spec,
                                     std::span<const Slice> slices, ResultConsumer consume) {
  if (is_revoked()) return give_up();
  const auto count = static_cast<std::int64_t>(slices.size());
  std::vector<Operation*> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    Operation::Setup with = setup();
    with.input = slices[static_cast<std::size_t>(i)].input;
    with.combiner = slices[static_cast<std::size_t>(i)].combiner;
    const Rank root = rank_at(static_cast<std::int32_t>(i * members_->size() / count));
    OperationRecord& record = log_.add(make_allreduce(std::move(with), spec, root));
    parts.push_back(record.operation.get());
    start(*record.operation);
    progress_.give_way(lock);
  }
  progress_.wait_until(lock, [&] {
    return std::all_of(parts.begin(), parts.end(), [](const Operation* part) {
      return part->state() != Operation::State::running && !part->uses_caller_memory();
    });
  });
  return finish_slices(parts, consume);
}

// All live members see the same of every part: who contributed, or that nobody knows. So they
// decide alike.
Outcome Session::finish_slices(const std::vector<Operation*>& parts, ResultConsumer consume) {
  Outcome outcome;
  outcome.is_delivered = true;
  std::vector<Rank> excluded;
  for (Operation* part : parts) {
    outcome.is_delivered = outcome.is_delivered && part->excluded() == parts.front()->excluded();
    excluded.insert(excluded.end(), part->excluded().begin(), part->excluded().end());
    add(outcome, finish(*part, nullptr, After::archive));
  }
  if (outcome.is_delivered && consume && !outcome.is_mismatched)
    for (Operation* part : parts) consume(*part->result());
  if (outcome.is_delivered)
    contributors_.set(members_, parts.front()->excluded());
  else
    contributors_.clear();
  if (is_revoked()) return outcome;
  if (!excluded.empty()) members_ = members_->without(excluded);
  log_.forget_before(parts.front()->number());
  return outcome;
}

}  // namespace resprout::runtime
