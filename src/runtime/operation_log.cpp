#include "runtime/operation_log.hpp"

#include <algorithm>

namespace resprout::runtime {
namespace {

// What is kept before a barrier is due, one payload more, and what rounding up takes.
constexpr std::size_t payload_bytes = kept_bytes_max + large_bytes + unsynchronized_max * 64;

}  // namespace

OperationLog::OperationLog(Transport& home, Agenda& agenda)
    : agenda_(agenda), payloads_(home, payload_bytes) {}

void OperationLog::forget_before(std::uint64_t number) {
  std::uint64_t first_kept = first();
  unsynchronized_ = {};
  const auto keep = operations_.begin() + static_cast<std::ptrdiff_t>(number - first_kept);
  for (auto it = operations_.begin(); it != keep; ++it, ++first_kept) {
    if (is_abandoned_ && first_kept < abandoned_at_)
      buried_.push_back(std::move(*it));
    else if (it->operation && it->operation->is_being_sent())
      agenda_.linger(std::move(it->operation));
  }
  operations_.erase(operations_.begin(), keep);
  if (!is_abandoned_) payloads_.forget();
}

bool OperationLog::note_unsynchronized(std::size_t bytes) {
  ++unsynchronized_.operations;
  unsynchronized_.kept_bytes += bytes;
  return unsynchronized_.operations >= unsynchronized_max ||
         unsynchronized_.kept_bytes >= kept_bytes_max;
}

bool OperationLog::has_early_of(int peer) const {
  return std::any_of(early_.lower_bound(next_), early_.end(), [&](const auto& due) {
    return std::any_of(due.second.begin(), due.second.end(),
                       [&](const EarlyFrame& frame) { return frame.peer == peer; });
  });
}

std::vector<EarlyFrame> OperationLog::take_early(std::uint64_t number) {
  auto due = early_.extract(number);
  return due.empty() ? std::vector<EarlyFrame>() : std::move(due.mapped());
}

void OperationLog::abandon() {
  is_abandoned_ = true;
  abandoned_at_ = next_;
  early_.clear();
  for (OperationRecord& record : operations_)
    if (record.operation) record.operation->abandon();
}

void OperationLog::give_back() {
  for (std::vector<OperationRecord>* all : {&operations_, &buried_}) {
    for (OperationRecord& record : *all)
      if (record.operation && record.operation->is_being_sent())
        agenda_.linger(std::move(record.operation));
    all->clear();
  }
  payloads_.release();
}

}  // namespace resprout::runtime
