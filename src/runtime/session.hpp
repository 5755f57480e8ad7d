// A session: the collectives of one communicator, numbered.
//
// Invariants
//  1. All members start the same operations in the same order, so a number means the same operation
//     everywhere. Internal barriers take numbers too; all members decide alike when they are due.
//  2. An operation that synchronizes (allreduce, barrier) was completed here => every live member
//     has completed all earlier ones. Then, and only then, earlier operations are forgotten.
//  3. What is kept for others is bounded: at most `unsynchronized_max` operations or
//     `kept_bytes_max` bytes, then a barrier; an operation of `large_bytes` or more keeps nothing
//     and ends with a barrier while the caller's buffer still holds what others may ask for. So
//     does a concatenation of so many bytes, which everybody would keep.
//  4. Members leave only by an operation that synchronizes: everybody who lives leaves out the
//     same. Who is lost may have left out others, or have got a broadcast that failed for all who
//     live, and have gone on: what a frame says counts only among those who know the same.
//  5. Whether a broadcast is carried by a machine or directly (operation_record.hpp) is for each
//     process alone to decide: the messages are the same.
//  6. Whether an operation is left to the library below is decided by all alike. It is settled if
//     it did not end well everywhere; it is the last one so left if it did so nowhere.
//  7. One operation begins only when the one before is over here, whether somebody waits for it or
//     a task goes on with it (task.hpp); the slices of one call count as one. So who takes part in
//     one has completed all before it, which is what 2 rests on; and internal barriers wait for
//     nobody whose earlier tasks do not go on by themselves.
//  8. Who knows that the session is revoked says nothing more in it but that, and believes nothing
//     but that; what was said before stays where others may read it.
//  9. What calls an operator of the program's is done on the program's threads: what comes while
//     the lifeline's thread drives the engine waits for them, in the order in which it came.
// Thread rule: under the engine's lock; one thread at a time calls operations of one session, as
// MPI demands of collectives on one communicator.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/contributors.hpp"
#include "runtime/early_frame.hpp"
#include "runtime/members.hpp"
#include "runtime/operation.hpp"
#include "runtime/operation_log.hpp"
#include "runtime/operation_record.hpp"
#include "runtime/progress.hpp"
#include "runtime/protocols.hpp"
#include "runtime/revocation.hpp"
#include "runtime/task.hpp"

namespace resprout::runtime {

class NativeCall;

// In a frame's header: it asks or says where a process is (session_standstill.cpp).
inline constexpr std::uint64_t standstill_number = revocation_number - 1;

// How an operation ended.
struct Outcome {
  bool is_delivered = false;
  bool is_touched = false;  // a loss fell into it
  // What members gave, or said that they take, does not fit together: a mistake of the program.
  // There is no result then.
  bool is_mismatched = false;
  std::int64_t recovery_ns = 0;  // from the first news of a loss in it until its end
  std::vector<int> lost;         // world ranks of its members that were lost when it ended
};

// What several operations of one call came to: that of all but the last, and the last.
Outcome operator+(Outcome before, const Outcome& last);

// Called with the result before the operation may be forgotten; not called without a result. Unless
// an operation says otherwise, a result is as long as the input of this process. Names
// a function object of the caller without owning it: good for the duration of a call.
class ResultConsumer {
 public:
  ResultConsumer(std::nullptr_t) {}
  template <typename F>
  ResultConsumer(const F& function)
      : function_(&function), call_([](const void* f, std::span<const std::byte> result) {
          (*static_cast<const F*>(f))(result);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  void operator()(std::span<const std::byte> result) const { call_(function_, result); }

 private:
  const void* function_ = nullptr;
  void (*call_)(const void*, std::span<const std::byte>) = nullptr;
};

// A part of an allreduce that is collected apart from the others.
struct Slice {
  std::span<const std::byte> input;
  Combiner* combiner = nullptr;  // commutative
};

class Session;

// Members that wait for each other because the program is wrong (session_standstill.cpp). Of one
// session; with the engine's lock.
class Standstill {
 public:
  explicit Standstill(Session& session) : session_(session) {}

  // This process waits over shared slots for a word of that member; no_member: it does not any
  // more.
  static constexpr int no_member = -1;
  void note_awaited_over_shared_slots(int world_rank) { awaited_over_shared_slots_ = world_rank; }
  // Asks all those for whom it waits.
  void ask_awaited();
  void handle_frame(int peer, const Message& message);
  void flush();
  // It has said that it is past what this process waits for over shared slots.
  bool has_passed(int world_rank) const;
  // Revokes the session if somebody has.
  void revoke_if_passed();
  // A mistake of the program was found here: members carry the same operation in ways that do not
  // meet. Then the session is revoked, and one call of this process says why.
  bool take_mistake() { return std::exchange(has_mistake_, false); }

 private:
  void give_once_more(std::uint32_t round);
  bool is_past(std::uint32_t round, bool is_about_shared_slots) const;
  void handle_answer(int peer, std::uint32_t round, bool is_about_shared_slots);
  void say(int world_rank, Message message);

  Session& session_;
  std::vector<std::pair<int, Message>> unsaid_;  // to world ranks
  std::map<int, std::uint64_t> past_;            // by world rank: what was next here then
  int awaited_over_shared_slots_ = no_member;
  bool has_mistake_ = false;
};

class Session final : public Outlet {
 public:
  Session(Progress& progress, std::uint64_t id, std::shared_ptr<const Members> members,
          bool is_on_one_host);

  // An allreduce at the same time for several slices, each collected by another member: for much
  // data. `consume` gets their results one after the other. Not delivered: a loss fell into it, and
  // the slices lack contributions of different members. Then all members get this, and try again
  // among those who are left.
  Outcome allreduce_in_slices(Lock& lock, const ReduceSpec& spec, std::span<const Slice> slices,
                              ResultConsumer consume);
  // The library below may carry operations: the same answer at all members. Without the lock where
  // there are no tasks.
  bool may_go_natively() const;
  // Not delivered: it ended well for nobody who lives, or all have voted that it did not. Then all
  // of them get this, and run the same operation again by one of the above. A gather is always
  // delivered. `lock` need not be held, and is when this returns.
  // REQUIRES: may_go_natively(), no tasks.
  Outcome run_natively(Lock& lock, NativeCall& call);
  Progress& progress() { return progress_; }

  // Goes on with the task as soon as those before it are over, whoever drives the engine.
  void enqueue(std::shared_ptr<Task> task);
  // What begins an operation and waits for it has to wait for these first. Safe without the lock.
  bool has_tasks() const { return has_tasks_.load(std::memory_order_acquire); }
  void finish_tasks(Lock& lock);
  // True if a task came to its end.
  bool advance_tasks();

  // Nobody waits in it any more, here or, soon, at any live member; what is started in it ends at
  // once, and its outcome means nothing. Once revoked, always revoked.
  void revoke();
  // The same here alone, and nobody is told: this process has no part in the job any more.
  void cut_off();
  // Safe without the lock.
  bool is_revoked() const { return revocation_.is_known(); }
  // When this one is revoked, so is `other`, in which its members wait on its behalf; at once if
  // it is revoked already. Until `release`.
  void bind(Session& other);
  void release(const Session& other) { std::erase(bound_, &other); }

  std::uint64_t id() const { return id_; }
  // Some operation was called; the same answer at all members between two operations.
  bool has_begun() const { return log_.next() != 0; }
  // Names for sessions that all members of this one open in the same order, or for one that is
  // told apart by `key`.
  std::uint64_t next_child() { return child(++children_); }
  std::uint64_t child(std::uint64_t key) const;
  // Ranks of the communicator that all have agreed to go on with.
  const Members& members() const { return *members_; }
  std::shared_ptr<const Members> shared_members() const { return members_; }
  const Members& everybody() const { return *everybody_; }
  // It has begun an operation that this process has not. REQUIRES, and of the answer: the lock.
  bool is_behind(int world_rank) const;
  // All have agreed that nobody is lost.
  bool is_whole() const { return members_->size() == everybody_->size(); }
  // To the last operation that was called here.
  Contributors& contributors() { return contributors_; }
  const Contributors& contributors() const { return contributors_; }
  // Members may read each other's memory: the same answer at all of them.
  bool may_read() const { return may_read_; }
  void read_no_more() { may_read_ = false; }
  // All members share memory.
  bool is_on_one_host() const { return is_on_one_host_; }
  // And they are few: a star is the best tree.
  bool prefers_star() const { return prefers_star_; }

  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                    Arrival arrival);
  // Somebody on this host, and with it everybody there, is told that it is revoked.
  void handle_notice_of_host();
  void handle_loss(int world_rank);
  // Tells the operation what the lifeline's thread could not.
  void catch_up(std::uint64_t number);
  // Takes part in what the survivors have to settle about a broadcast whose root is lost, or about
  // a native operation, if it is still kept and has not been revived since.
  void settle(std::uint64_t number);
  // Everybody is done with it, or it is revoked and this process is.
  void close() {
    is_closed_ = true;
    if (!is_revoked()) log_.release_payloads();
  }
  // REQUIRES: revoked; all living members have closed it.
  void give_back_memory() { log_.give_back(); }
  // The operation with this number, if it is neither forgotten nor still to come, and if a machine
  // carries it.
  Operation* find(std::uint64_t number) {
    OperationRecord* record = log_.find(number);
    return record != nullptr ? record->operation.get() : nullptr;
  }
  // Sends what the operation has to say, and comes back to it if it could not.
  void flush(Operation& operation);
  // The same for what has this number, if it is still there.
  void flush(std::uint64_t number);

  bool try_send(const Members& members, std::uint64_t operation, const Message& message,
                std::span<const std::byte> prefix, std::span<const std::byte> data,
                Transfer& transfer) override;
  bool passes_by_reference(int world_rank, std::span<const std::byte> data) const override;
  Buffer allocate(std::size_t bytes) override;

  // Calls `function(world_rank)` for everybody without whom an operation does not go on. Of one
  // that the library below carries nobody knows whom it waits for: `below(everybody)` if some of
  // them are on other hosts.
  void for_each_awaited(const std::function<void(int)>& function,
                        const std::function<void(const Members&)>& below) const;

  // One line a running operation, for a person who asks what this process waits for.
  std::string describe() const;

  Standstill standstill{*this};

 private:
  friend class Started;
  friend class Standstill;

  // What becomes of an operation when its call returns.
  enum class After {
    synchronize,  // it synchronizes: everything before it is forgotten
    archive,      // others may ask for it: nothing of it stays in the caller's memory
    drop,         // nobody asks for its payloads if no loss fell into it
    leave,        // a barrier follows inside the same call
  };

  Operation::Setup setup();
  Operation::Setup concatenation(Buffer input);
  std::unique_ptr<Operation> make_barrier();
  bool goes_directly(const BroadcastSpec& spec, bool is_root, std::size_t bytes);
  std::uint64_t start_directly(const BroadcastSpec& spec, Rank root,
                               std::span<const std::byte> payload);
  bool advance(OperationRecord& record, std::uint64_t number);
  // For the program's threads, while the lifeline's drives.
  bool has_to_wait(const OperationRecord& record) const;
  // REQUIRES: no machine. Nothing is left to do in it while nobody is lost.
  bool is_over(const OperationRecord& record) const;
  const Members& members_of(const OperationRecord& record) const;
  bool maybe_take(OperationRecord& record, const Message& message, Arrival& arrival);
  Operation& revive(OperationRecord& record, std::uint64_t number);
  Operation& revive_broadcast(OperationRecord& record, std::uint64_t number);
  Operation& revive_native(OperationRecord& record, std::uint64_t number);
  OperationRecord& keep_native(const NativeCall& call);
  Outcome note_native_end(Lock& lock, NativeCall& call);
  Outcome give_up();
  Outcome settle_native(Lock& lock, OperationRecord& record, NativeCall& call);
  // `root`: who alone gives anything, or -1.
  Outcome vote(Lock& lock, int root, bool has_ended_well);
  bool has_lost_members() const;
  void handle_notice(int peer, const Message& notice);
  void flush_revocation();
  void follow_revocation();
  void fall_silent();
  void handle_suspicion(OperationRecord& record, std::uint64_t number, Rank rank);
  Outcome run(Lock& lock, std::unique_ptr<Operation> operation, ResultConsumer consume, After after,
              OperationRecord::Carrier of = OperationRecord::Carrier::machine);
  Outcome finish(Operation& operation, ResultConsumer consume, After after);
  bool maybe_give_up(const Operation& operation);
  void part_from_the_lost();
  Outcome finish_record(OperationRecord& record, ResultConsumer consume, After after);
  Outcome finish_slices(const std::vector<Operation*>& parts, ResultConsumer consume);
  // Of the operation that was just run. `root`: of a broadcast.
  void note_contributors(const Outcome& outcome, Rank root = no_rank);
  void start(Operation& operation);
  void handle_early_frames(std::uint64_t number);
  bool is_among_us(const OperationRecord& record, int peer, const FrameHeader& header) const;
  void handle_due_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                        Arrival arrival);
  // One more operation that does not synchronize is over, of which everybody keeps so many bytes.
  void synchronize_if_due(Lock& lock, std::size_t bytes) {
    if (log_.note_unsynchronized(bytes)) synchronize(lock);
  }
  Outcome synchronize(Lock& lock);

  Progress& progress_;
  const std::uint64_t id_;
  std::shared_ptr<const Members> everybody_;
  std::shared_ptr<const Members> members_;
  const bool is_on_one_host_;
  const bool prefers_star_;
  OperationLog log_;
  Revocation revocation_;
  std::vector<Session*> bound_;              // are revoked when this one is
  std::deque<std::shared_ptr<Task>> tasks_;  // the first one goes on
  std::atomic<bool> has_tasks_ = false;
  Contributors contributors_;
  bool is_native_over_ = false;
  bool may_read_ = true;
  std::atomic<bool> is_below_ = false;  // the library below carries the next operation
  std::uint64_t children_ = 0;
  bool is_closed_ = false;
};

}  // namespace resprout::runtime
