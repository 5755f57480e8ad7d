// A session: the collectives of one communicator, numbered.
//
// Invariants
//  1. All members start the same operations in the same order, so a number means the same operation
//     everywhere. Internal barriers take numbers too; all members decide alike when they are due.
//  2. An operation that synchronizes (allreduce, barrier) was completed here => every live member
//     has completed all earlier ones. Then, and only then, earlier operations are forgotten.
//  3. What is kept for others is bounded: at most `unsynchronized_max` operations or
//     `kept_bytes_max` bytes, then a barrier; an operation of `large_bytes` or more keeps nothing
//     and ends with a barrier while the caller's buffer still holds what others may ask for.
//  4. Members leave only by an operation that synchronizes: everybody leaves out the same.
// Thread rule: under the engine's lock; one thread at a time calls operations of one session, as
// MPI demands of collectives on one communicator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/members.hpp"
#include "runtime/operation.hpp"
#include "runtime/protocols.hpp"

namespace resprout::runtime {

class Engine;
using Lock = std::unique_lock<std::mutex>;

inline constexpr int unsynchronized_max = 256;
inline constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t large_bytes = std::size_t{1} << 20;

// How an operation ended.
struct Outcome {
  bool is_delivered = false;
  bool is_touched = false;       // a loss fell into it
  std::int64_t recovery_ns = 0;  // from the first news of a loss in it until its end
  std::uint64_t number = 0;
  std::vector<int> lost;  // world ranks of its members that were lost when it ended
};

// Called with the result before the operation may be forgotten; not called without a result.
using ResultConsumer = std::function<void(std::span<const std::byte>)>;

class Session final : public Outlet {
 public:
  Session(Engine& engine, std::uint64_t id, std::shared_ptr<const Members> members);

  Outcome allreduce(Lock& lock, const ReduceSpec& spec, std::span<const std::byte> input,
                    Combiner& combiner, const ResultConsumer& consume);
  // Only the root gets a result. `root`: rank in the communicator.
  Outcome reduce(Lock& lock, const ReduceSpec& spec, int root, std::span<const std::byte> input,
                 Combiner& combiner, const ResultConsumer& consume);
  Outcome barrier(Lock& lock);
  // `payload`: at the root what it sends; elsewhere only its size counts (equal on all members).
  Outcome broadcast(Lock& lock, const BroadcastSpec& spec, int root,
                    std::span<const std::byte> payload, const ResultConsumer& consume);

  std::uint64_t id() const { return id_; }
  // Ranks of the communicator that all have agreed to go on with.
  const Members& members() const { return *members_; }
  const Members& everybody() const { return *everybody_; }

  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                    Arrival arrival);
  void handle_loss(int world_rank);
  // The operation with this number, if it is neither forgotten nor still to come.
  Operation* find(std::uint64_t number);
  // Sends what the operation has to say; asks the engine to come back when it could not.
  void flush(Operation& operation);

  bool try_send(int world_rank, std::uint64_t operation, const Message& message,
                std::span<const std::byte> prefix, std::span<const std::byte> data,
                Transfer& transfer) override;
  Buffer allocate(std::size_t bytes) override;

  // One line a running operation, for a person who asks what this process waits for.
  std::string describe() const;

 private:
  struct EarlyFrame {
    FrameHeader header;
    std::vector<std::byte> prefix;
    Arrival arrival;
  };

  // What becomes of an operation when its call returns.
  enum class After {
    synchronize,  // it synchronizes: everything before it is forgotten
    archive,      // others may ask for it: nothing of it stays in the caller's memory
    leave,        // a barrier follows inside the same call
  };

  Operation::Setup setup();
  Outcome run(Lock& lock, std::unique_ptr<Operation> operation, const ResultConsumer& consume,
              After after);
  void start(Operation& operation);
  void forget_before(std::uint64_t number);
  void synchronize_if_due(Lock& lock, std::size_t bytes);

  Engine& engine_;
  const std::uint64_t id_;
  std::shared_ptr<const Members> everybody_;
  std::shared_ptr<const Members> members_;
  std::uint64_t next_ = 0;                                  // number of the next operation
  std::vector<std::unique_ptr<Operation>> operations_;      // ascending by number
  std::map<std::uint64_t, std::vector<EarlyFrame>> early_;  // by the operation they are for
  int unsynchronized_ = 0;
  std::size_t kept_bytes_ = 0;
};

}  // namespace resprout::runtime
