// Native until a loss: an allreduce that is left to the library below, and what settles it when a
// loss has interrupted it. docs/explanation/protocols/native.md says why all live processes deliver
// the same.
//
// The library is modelled as what bears no fault: up a binomial tree to rank 0 and down again. Its
// operation has ended well at a process that has its result.
//   settlement  an FTCO allreduce of "the result, if it ended well here", in which any will do.
//               Who suspects somebody, or hears of the settlement, takes part, also after it has
//               returned
//   redo        if no live process has the result: an FTCO allreduce of the inputs
//
// Invariants
//  1. `deliver` is said once: by the library, the settlement or the redo.
//  2. Who has begun the settlement takes nothing from the library any more: whether it ended well
//     was settled then. Who has its result still passes it on; the library may do so.
//  3. The redo begins where the settlement has ended without a result, and only there. The
//     settlement goes on living: others may need what it has decided.
//  4. While the redo lives the accumulator is its own. The settlement needs it again only if it is
//     overruled by a result; then this process is suspected, and its redo is over.
//
// Settlement and redo share a mailbox: round r is 2r in messages of the one and 2r + 1 in those of
// the other. When this process goes on to round r, both do, and messages below 2r are obsolete.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "topology/range_tree.hpp"

namespace resprout::protocols {

struct NativeUntilLossConfig {
  NativeUntilLossConfig(std::int32_t processes, std::int32_t radix)
      : procs(processes), settlement{processes, radix, rank_at(0), true}, redo(settlement) {
    settlement.round_step = redo.round_step = 2;
    redo.first_round = 1;
  }

  std::int32_t procs;
  FtcoAllreduceConfig settlement;
  FtcoAllreduceConfig redo;
};

class NativeUntilLoss {
 public:
  using Config = NativeUntilLossConfig;

  // REQUIRES: `config` outlives the machine; 0 <= self < procs.
  NativeUntilLoss(const Config& config, Rank self);

  void start(const Context& context);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context&) {}
  void handle_suspicion(const Context& context, Rank rank);

  // combine and deliver from the library; adopt, restart and deliver from the settlement; what
  // FtcoAllreduce has from the redo.
  std::optional<Event> poll_event(const Context& context);

  // `tree`: of the library, from below a partial result, from above the result. `contribution` and
  // `result` of settlement and redo; those of a settlement have slot none if the sender knows of no
  // result.
  std::optional<Message> poll_send(const Context& context);

  // Failures come as suspicions: there is nothing to wait for.
  Deadline poll_timeout(const Context&) const { return {}; }

 private:
  enum class Phase : std::uint8_t {
    native,    // nothing is known of a loss
    settling,  // the settlement has not ended here
    redoing,   // it has, without a result
    settled,   // it has, with one
  };
  enum class Library : std::uint8_t {
    gathering,  // the cursor walks over the children whose partial results are due
    sending,    // this process's own is due
    waiting,    // for the result
    ended,      // well; the cursor walks over the children to be told
  };

  topology::RangeTree tree() const { return {0, config_->procs, 2}; }
  std::int32_t end() const { return self_ + tree().size(self_); }
  bool is_inner() const { return end() > self_ + 1; }
  // What the settlement may know from here on: the result, where it is, or that there is none.
  Slot known() const { return has_result_ ? Slot::result : Slot::none; }
  Message message_to(std::int32_t rank, MessageKind kind, Slot slot) const;

  Disposition handle_native(const Message& message);
  Event end_natively(const Message& subject);
  std::optional<Event> next_native_event(const Context& context);
  std::optional<Message> next_native_send();

  void become_settling(const Context& context);
  std::optional<Event> next_settlement_event(const Context& context);
  bool maybe_take(const Message& subject);
  std::optional<Event> end_settlement(const Context& context, const Event& decision);
  std::optional<Event> next_redo_event(const Context& context);

  FtcoAllreduce settlement_;
  FtcoAllreduce redo_;
  const Config* config_;
  Message arrived_{};  // the library's result, not yet delivered
  std::int32_t self_;
  std::int32_t cursor_;  // of the library
  Phase phase_ = Phase::native;
  Library library_ = Library::gathering;
  Slot source_ = Slot::none;  // where the result that the settlement speaks of is
  bool has_arrived_ = false;
  bool has_result_ = false;                        // of the library, by itself or by the settlement
  [[maybe_unused]] std::uint8_t padding_[3] = {};  // no bytes of chance: states are compared
};

static_assert(Machine<NativeUntilLoss>);
static_assert(std::has_unique_object_representations_v<NativeUntilLoss>);

}  // namespace resprout::protocols
