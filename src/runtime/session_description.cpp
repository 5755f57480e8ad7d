// What a session is in the middle of, in words, for whoever looks into a process that hangs.
#include <string>

#include "runtime/session.hpp"

namespace resprout::runtime {

std::string Session::describe() const {
  std::string text = "session " + std::to_string(id_) + ": " + std::to_string(members_->size()) +
                     " of " + std::to_string(everybody_->size()) + " members, " +
                     (is_revoked() ? "revoked, " : "") + "next operation " +
                     std::to_string(log_.next()) + ", frames for " +
                     std::to_string(log_.early_count()) + " later operations";
  log_.for_each([&](std::uint64_t number, const OperationRecord& record) {
    const bool is_running = record.operation
                                ? record.operation->state() == Operation::State::running
                                : !is_over(record);
    if (is_running)
      text += "\n  operation " + std::to_string(number) + " runs, waits for: " +
              (record.operation ? record.operation->deadline().reason : "the root, or room for it");
  });
  if (is_below_.load(std::memory_order_relaxed))
    text += "\n  operation " + std::to_string(log_.next()) + " runs, waits for: the library below";
  if (!tasks_.empty()) text += "\n  " + std::to_string(tasks_.size()) + " tasks go on";
  return text;
}

}  // namespace resprout::runtime
