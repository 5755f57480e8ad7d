// What a session keeps of its operations, by number: those that run, those that others may still
// ask for, and what has come for those that have not begun.
//
// What is kept is bounded: after `unsynchronized_max` operations, or `kept_bytes_max` bytes, a
// barrier is due, and what was before it is forgotten.
//
// Thread rule: under the engine's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/agenda.hpp"
#include "runtime/early_frame.hpp"
#include "runtime/operation_record.hpp"

namespace resprout::runtime {

inline constexpr int unsynchronized_max = 256;
inline constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t large_bytes = std::size_t{1} << 20;

class OperationLog {
 public:
  // REQUIRES: `home` and `agenda` outlive it.
  OperationLog(Transport& home, Agenda& agenda);

  // Of the next operation.
  std::uint64_t next() const { return next_; }
  // Of the oldest one that is kept, or of the next one.
  std::uint64_t first() const { return next_ - operations_.size(); }
  // An operation begins by taking its number, and then its place. REQUIRES: nothing is done with
  // the log in between.
  std::uint64_t take_number() { return next_++; }
  OperationRecord& add() { return operations_.emplace_back(); }
  OperationRecord& add(std::unique_ptr<Operation> operation) {
    OperationRecord& record = add();
    record.operation = std::move(operation);
    return record;
  }

  // Null: it is forgotten, or has not begun.
  OperationRecord* find(std::uint64_t number) {
    return number >= first() && number < next_ ? &operations_[number - first()] : nullptr;
  }
  // REQUIRES: some operation is kept.
  const OperationRecord& latest() const { return operations_.back(); }
  template <typename Visit>  // (number, what is kept)
  void for_each(Visit visit) const {
    std::uint64_t number = first();
    for (const OperationRecord& record : operations_) visit(number++, record);
  }

  // Forgets all that came before this one, but for what is still being sent.
  void forget_before(std::uint64_t number);
  // One more operation that does not synchronize is over, of which everybody keeps so many bytes.
  // True: a barrier is due.
  bool note_unsynchronized(std::size_t bytes);

  PayloadLog& payloads() { return payloads_; }
  const PayloadLog& payloads() const { return payloads_; }

  void keep_early(std::uint64_t number, EarlyFrame frame) {
    early_[number].push_back(std::move(frame));
  }
  bool has_early() const { return !early_.empty(); }
  bool has_early(std::uint64_t number) const { return early_.contains(number); }
  // For the next operation, or one after it.
  bool has_early_of(int peer) const;
  // Of so many operations.
  std::size_t early_count() const { return early_.size(); }
  std::vector<EarlyFrame> take_early(std::uint64_t number);

  // The session is revoked: what runs fails, what has come is dropped, and what was said so far
  // stays where others may read it, until `give_back`.
  void abandon();
  void give_back();
  // The session is closed, and is not revoked.
  void release_payloads() { payloads_.release(); }

 private:
  Agenda& agenda_;
  PayloadLog payloads_;
  std::uint64_t next_ = 0;
  std::vector<OperationRecord> operations_;                 // with ascending numbers, up to next_
  std::map<std::uint64_t, std::vector<EarlyFrame>> early_;  // by the operation they are for
  struct {
    int operations = 0;
    std::size_t kept_bytes = 0;
  } unsynchronized_;
  bool is_abandoned_ = false;
  std::uint64_t abandoned_at_ = 0;       // operations before this one may have said something
  std::vector<OperationRecord> buried_;  // of those, what is over
};

}  // namespace resprout::runtime
