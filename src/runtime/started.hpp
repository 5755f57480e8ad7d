// An operation of a session that is not waited for: it is started, goes on whenever somebody asks
// whether it is over, and ends.
//
// Each operation is what the session's function of the same name does: the same messages, the same
// barriers after it. REQUIRES: of one session, one begins only when the one before is over.
// Thread rule: as the session.
#pragma once

#include "runtime/session.hpp"

namespace resprout::runtime {

class Started {
 public:
  explicit Started(Session& session) : session_(session) {}
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  // Parameters as those of the session's functions; what they refer to lives until it is over.
  void allreduce(const ReduceSpec& spec, std::span<const std::byte> input, Combiner& combiner);
  void agree(const ReduceSpec& spec, std::span<const std::byte> input, Combiner& combiner);
  void reduce(const ReduceSpec& spec, int root, std::span<const std::byte> input,
              Combiner& combiner);
  void allgather(const ReduceSpec& spec, Buffer input);
  void gather(const ReduceSpec& spec, int root, Buffer input);
  void barrier();
  void broadcast(const BroadcastSpec& spec, int root, std::span<const std::byte> payload);

  // True: it is over, and the caller's buffers are the caller's again. `consume` gets the result,
  // once, if there is one.
  bool advance(ResultConsumer consume);
  // The same for a thread that waits. The session's tasks are over when the operation begins.
  Outcome wait(Lock& lock, ResultConsumer consume);
  // REQUIRES: it is over.
  const Outcome& outcome() const { return outcome_; }

 private:
  enum class Stage { over, operation, barrier };
  // What may follow the operation before it is over.
  enum class Behind {
    nothing,
    barrier_if_due,    // it does not synchronize
    barrier_if_large,  // everybody would keep the result
  };

  void begin(std::unique_ptr<Operation> operation, Session::After after, Behind behind);
  void reduce(Operation::Setup setup, const ReduceSpec& spec, Rank root);
  void begin_barrier();
  void end_without_root(bool is_delivered);
  bool is_through() const;
  void end(ResultConsumer consume);

  Session& session_;
  Stage stage_ = Stage::over;
  Behind behind_ = Behind::nothing;
  Session::After after_ = Session::After::synchronize;
  std::uint64_t number_ = 0;
  Rank root_ = no_rank;    // of a broadcast
  std::size_t bytes_ = 0;  // of a broadcast: what everybody keeps
  Outcome outcome_;
};

}  // namespace resprout::runtime
