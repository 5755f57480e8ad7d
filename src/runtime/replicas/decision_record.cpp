#include "runtime/replicas/decision_record.hpp"

namespace resprout::runtime {

void DecisionRecord::note(std::uint32_t kind, const std::optional<Bytes>& answer) {
  if (runs_.empty() || runs_.back().answered.is_answered()) runs_.emplace_back();
  if (answer) {
    runs_.back().answered = {kind, answer};
  } else {
    ++runs_.back().refusals;
  }
}

void DecisionRecord::rewind() {
  at_ = 0;
  refused_ = 0;
}

std::optional<DecisionRecord::Entry> DecisionRecord::next() {
  if (is_through()) return std::nullopt;
  const Run& run = runs_[at_];
  if (refused_ < run.refusals) {
    ++refused_;
    return Entry{};
  }
  ++at_;
  refused_ = 0;
  return run.answered;
}

bool DecisionRecord::is_through() const {
  if (at_ == runs_.size()) return true;
  const Run& run = runs_[at_];
  return !run.answered.is_answered() && refused_ == run.refusals;
}

}  // namespace resprout::runtime
