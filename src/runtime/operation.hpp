// One operation at one process: a machine, and the payloads it speaks of.
//
// This is the driver of the contract in core/protocol.hpp for the real world. The machine sees
// messages; this class keeps the bytes they name: the input (the caller's memory, until `archive`
// copies it), the accumulator, the result, and the payloads of messages that the machine kept. The
// ranks whose contributions are left out travel as a prefix of contributions and results.
//
// Processes may contribute payloads of different sizes, by a mistake of the program. Such payloads
// combine to one of no bytes, and so does each combination with that. A process that gave some
// bytes finds the mistake by a result that is not as long as what it gave.
//
// An operation outlives the call that started it: others may still ask for what it knows. Thread
// rule: under the engine's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/protocol.hpp"
#include "runtime/buffer.hpp"
#include "runtime/members.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

// Combines two payloads: upper := lower (op) upper, in this order of operands.
class Combiner {
 public:
  virtual void combine(std::span<const std::byte> lower, std::span<std::byte> upper) = 0;
  virtual bool is_commutative() const = 0;
  // Only the program's own threads may call `combine`.
  virtual bool is_for_program() const { return true; }

 protected:
  ~Combiner() = default;
};

// Where an operation's messages go.
class Outlet {
 public:
  // `message` is one of those among `members`. False: no room now, ask again later.
  virtual bool try_send(const Members& members, std::uint64_t operation, const Message& message,
                        std::span<const std::byte> prefix, std::span<const std::byte> data,
                        Transfer& transfer) = 0;
  // The data would reach that process by reference: sending it costs nothing.
  virtual bool passes_by_reference(int world_rank, std::span<const std::byte> data) const = 0;
  // Memory for a payload, where peers can read it if that saves copies.
  virtual Buffer allocate(std::size_t bytes) = 0;

 protected:
  ~Outlet() = default;
};

// From this size on payloads are put where the peers of this host can read them.
inline constexpr std::size_t shared_bytes_min = std::size_t{16} << 10;
// Corrections mostly reach who has the payload already. Larger ones than this are not moved by
// them, but offered.
inline constexpr std::size_t corrected_bytes_max = std::size_t{16} << 10;

// The data of an arrived frame.
struct Arrival {
  std::span<const std::byte> data;
  Buffer owned;            // its memory, if it came with memory of its own
  bool is_shared = false;  // it lies in shared memory and outlives the operation
};

// The same, in memory that lasts if it does not yet.
Arrival lasting(Arrival arrival);

class Operation {
 public:
  enum class State : std::uint8_t { running, delivered, failed };

  struct Setup {
    std::uint64_t number = 0;
    std::shared_ptr<const Members> members;
    Outlet* outlet = nullptr;
    std::optional<std::span<const std::byte>> input;  // none: this process has no payload to give
    Combiner* combiner = nullptr;                     // null: whichever payload there is will do
    bool folds_pairwise = false;  // contributions of one process each, grouped as a binomial tree
    bool concatenates = false;    // contributions are put one behind the other; no combiner
    Buffer owned_input;           // the input's memory, if it is not the caller's
  };

  explicit Operation(Setup setup)
      : setup_(std::move(setup)), archived_input_(std::move(setup_.owned_input)) {}
  virtual ~Operation() = default;
  static void* operator new(std::size_t bytes) { return take_pooled(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { give_back_pooled(memory, bytes); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // `suspects`: members that are lost already, ascending.
  void start(Time now, std::vector<Rank> suspects);
  void handle_frame(Time now, const Message& message, std::span<const std::byte> prefix,
                    Arrival arrival);
  void handle_suspicion(Time now, Rank rank);
  void handle_time(Time now);
  // The first `count` messages that the machine wants to send were sent already.
  void skip_sends(Time now, int count);
  // Hands messages to the outlet. False: the outlet has no room, call again.
  bool flush(Time now);

  // Calls `function(world_rank)` for everybody without whom it does not go on: whose message it
  // waits for, or for whom it has one that the outlet has no room for.
  template <typename Function>
  void for_each_awaited(Time now, const Function& function) const {
    if (unsent_) function(members().world_rank(unsent_->to));
    std::int32_t place = 0;
    Rank rank;
    while (state_ == State::running && (rank = machine_next_due(context(now), place)) != no_rank)
      function(members().world_rank(rank));
  }

  State state() const { return state_; }
  std::uint64_t number() const { return setup_.number; }
  const Members& members() const { return *setup_.members; }
  const std::shared_ptr<const Members>& shared_members() const { return setup_.members; }
  Deadline deadline() const { return deadline_; }
  // A suspicion came while the operation ran, or a member was suspected when it began.
  bool is_touched() const { return is_touched_; }
  Time touched_since() const { return touched_since_; }
  // REQUIRES: delivered. Empty optional: the operation delivered without a payload.
  std::optional<std::span<const std::byte>> result() const;
  const std::vector<Rank>& suspects() const { return suspects_; }
  const std::vector<Rank>& excluded() const { return result_excluded_; }
  // REQUIRES: delivered, not archived. False: members gave what does not fit together. The result
  // is not as long as what this process gave; or it is no row of blocks of members, if it
  // concatenates. `ranks`: of the communicator.
  bool fits(int ranks) const;
  // REQUIRES: delivered. There is no result anywhere: the root of the reduce is gone.
  bool is_nobodys() const { return is_nobodys_; }
  // What happens in it may have to be done on the program's threads.
  bool is_for_program() const {
    return state_ == State::running && setup_.combiner != nullptr &&
           setup_.combiner->is_for_program();
  }
  // True while the transport still reads the caller's memory.
  bool uses_caller_memory() const { return input_transfer_.pending != 0; }
  // True while the transport still reads any memory of this operation: it must not be destroyed.
  bool is_being_sent() const { return input_transfer_.pending + own_transfer_.pending != 0; }
  // Nothing more is said in its session, or believed there: if it runs, it has failed. What was
  // said before stays where others may read it.
  void abandon();
  // The call returns: what others may still ask for must not be in the caller's memory.
  void archive();
  // The call returns, and nobody will ask for any payload: the root of a reduce has them all.
  void drop_payloads();

 protected:
  virtual void machine_start(const Context& context) = 0;
  virtual Disposition machine_handle_message(const Context& context, const Message& message) = 0;
  virtual void machine_handle_timeout(const Context& context) = 0;
  virtual void machine_handle_suspicion(const Context& context, Rank rank) = 0;
  virtual std::optional<Event> machine_poll_event(const Context& context) = 0;
  virtual std::optional<Message> machine_poll_send(const Context& context) = 0;
  virtual Deadline machine_poll_timeout(const Context& context) const = 0;
  virtual Rank machine_next_due(const Context& context, std::int32_t& place) const = 0;

 private:
  // Bytes that last as long as the operation: in memory of its own, or in some peer's shared
  // memory.
  struct Held {
    Buffer owned;
    std::span<const std::byte> data;
    bool is_own() const { return owned.data() != nullptr || data.empty(); }
  };
  // A payload as it arrived: its bytes, and who is missing from it.
  struct Payload {
    std::vector<Rank> excluded;
    Arrival arrival;
  };

  Context context(Time now) const;
  void drain(Time now, const Message* current, Payload* payload);
  void act(const Event& event, const Message* current, Payload* payload);
  void combine(const Message& subject);
  void fold(std::span<const std::byte> lower, Buffer& upper);
  void append(Arrival& upper);
  void combine_on_top(Arrival& upper);
  void merge_partials();
  void settle_partials();
  void join_partials();
  void abandon_partials();
  void adopt(const Message& subject, const Message* current, Payload* payload);
  void replace_accumulator(std::optional<Held> by);
  Held hold(Buffer buffer) const;
  Held hold(Arrival& arrival);
  Buffer copy(std::span<const std::byte> data);
  void share_input();
  void deliver(const Event& event, const Message* current, Payload* payload);
  void touch(Time now);
  Payload* find_kept(const Message& subject);
  bool send(const Message& message);
  bool is_offered(const Message& message, std::span<const std::byte> data) const;
  std::optional<std::span<const std::byte>> slot(Slot slot) const;

  Setup setup_;
  State state_ = State::running;
  bool is_touched_ = false;
  bool is_abandoned_ = false;
  Time touched_since_;
  Deadline deadline_;
  std::vector<Rank> suspects_;
  std::vector<Message> mailbox_;
  std::vector<Payload> kept_;  // parallel to mailbox_
  std::optional<Message> unsent_;

  // Partial results of contributions before those of the accumulator. If it folds pairwise: of
  // falling numbers of processes, all powers of two. If it concatenates: what is still to be put
  // together; the first one may be the caller's memory.
  struct Partial {
    Held held;
    std::int32_t processes;
  };
  std::vector<Partial> partials_;
  std::int32_t processes_ = 1;       // in the accumulator
  std::optional<Held> accumulator_;  // none: the accumulator is the input
  std::vector<Rank> excluded_;       // from the accumulator
  std::optional<Held> result_;
  bool result_is_input_ = false;
  bool is_nobodys_ = false;
  bool has_misfits_ = false;  // payloads came together here that differ in size
  std::vector<Rank> result_excluded_;
  Buffer archived_input_;
  std::vector<Buffer> retired_;  // no longer used here, but perhaps still read by others
  Transfer input_transfer_;
  Transfer own_transfer_;
};

// The operation that runs machine M, constructed from its config and this process's member index.
template <Machine M, typename Config>
class OperationOf final : public Operation {
 public:
  OperationOf(Setup setup, const Config& config)
      : Operation(std::move(setup)), config_(config), machine_(config_, members().self()) {}

 private:
  void machine_start(const Context& context) override { machine_.start(context); }
  Disposition machine_handle_message(const Context& context, const Message& message) override {
    return machine_.handle_message(context, message);
  }
  void machine_handle_timeout(const Context& context) override { machine_.handle_timeout(context); }
  void machine_handle_suspicion(const Context& context, Rank rank) override {
    machine_.handle_suspicion(context, rank);
  }
  std::optional<Event> machine_poll_event(const Context& context) override {
    return machine_.poll_event(context);
  }
  std::optional<Message> machine_poll_send(const Context& context) override {
    return machine_.poll_send(context);
  }
  Deadline machine_poll_timeout(const Context& context) const override {
    return machine_.poll_timeout(context);
  }
  Rank machine_next_due(const Context& context, std::int32_t& place) const override {
    return machine_.next_due(context, place);
  }

  const Config config_;
  M machine_;
};

}  // namespace resprout::runtime
