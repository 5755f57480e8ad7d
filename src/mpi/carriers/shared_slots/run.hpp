// One operation over shared slots that its caller does not wait for: it is started, and asked now
// and then whether it is over. What is written, looked at and concluded is what the machine says
// (protocols/shared_slots), as for the calls that wait (shared_slots.hpp).
//
// Operations of one communicator begin one after the other, each when the one before is over.
// Thread rule: `advance_at_head` on the thread that has started it, before any other knows of it;
// all else under the engine's lock.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mpi/carriers/shared_slots/communicator_slots.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"

namespace resprout::shim {

struct Given;

// How a call goes over shared slots: the same at all members.
struct SlotWay {
  enum class Form : std::uint8_t {
    broadcast,
    to_root,  // a gather, where shared slots carry those
    prefix,   // likewise; each member reads what those below it give
    rendezvous,
  };
  Form form = Form::rendezvous;
  Kind kind = Kind::barrier;
  std::size_t bytes = 0;  // of the broadcast, or the most that a member gives
  MPI_Op op = MPI_OP_NULL;
  int root = -1;
  bool is_inclusive = true;  // a member of a prefix reads its own, too
  bool is_uneven = false;    // a broadcast whose root gives `bytes` or fewer
};

// False: it is for somebody else, whatever the shared slots are. The same answer at all members.
bool fits_shared_slots(const SlotWay& way, int members);

// What a member can only say once it has seen what others have given: the call is for another
// carrier, at all members alike. It is no code of MPI's.
inline constexpr int for_another_carrier = -1;

// Who takes what the members have given.
class SlotTaker {
 public:
  // In the order of ranks; of a broadcast what the root has given. It is there until this returns.
  // MPI_SUCCESS, what went wrong, or for_another_carrier.
  virtual int take_brought(std::span<const Brought> all) = 0;

 protected:
  ~SlotTaker() = default;
};

// Of dense elements: the sum of what all have given, in the grouping of reductions over trees. What
// the call returns.
int combine_brought(std::span<const Brought> all, MPI_Op op, const Layout& layout, void* into);
// The same from the lowest rank on, and of those below `end`; nothing is written if there are none.
int fold_brought(std::span<const Brought> all, int end, MPI_Op op, const Layout& layout,
                 void* into);

class SlotRun {
 public:
  enum class State : std::uint8_t {
    goes_on,
    done,
    over,  // it is not done anywhere: for a loss, or as it is for another carrier
  };

  // REQUIRES: `communicator` outlives it.
  SlotRun(Communicator& communicator, const SlotWay& way)
      : communicator_(communicator), way_(way) {}

  const SlotWay& way() const { return way_; }
  bool has_begun() const { return shared_slots_ != nullptr; }
  // Its turn has come. False: shared slots do not carry it, at all members alike.
  bool is_carried();
  // This member gives `mine`, which stays there until it is over. REQUIRES: is_carried().
  void begin(std::span<const std::byte> mine);
  // Goes on as far as it can without waiting. REQUIRES: it has begun, and was not over.
  State advance(SlotTaker& taker);
  // The same as long as nobody is missing.
  State advance_at_head(SlotTaker& taker);

  // Another one was called on the communicator since.
  void note_later_call() { is_last_ = false; }
  bool is_last() const { return is_last_; }

  // Tells the session whose data are in the result. Under the engine's lock. REQUIRES: it is done.
  void note_contributors() const;

  // What the call comes to. REQUIRES: it is done.
  int code() const { return code_; }
  const runtime::Outcome& outcome() const { return outcome_; }

 private:
  bool reads() const;
  void write_own();
  bool look_on(bool is_at_head);
  bool look_with_engine();
  State go_on(SlotTaker& taker, bool is_at_head);
  void take(SlotTaker& taker);
  void take_broadcast(SlotTaker& taker);
  void take_rendezvous(SlotTaker& taker);
  void take_given(SlotTaker& taker);
  void end_operation();

  Communicator& communicator_;
  SlotWay way_;
  std::shared_ptr<CommunicatorSlots> shared_slots_;  // null: it has not begun
  std::span<const std::byte> mine_;
  bool is_last_ = true;
  Rank root_ = no_rank;
  bool is_taken_ = false;  // what is left is the rendezvous that is due behind it
  int code_ = MPI_SUCCESS;
  runtime::Outcome outcome_ = delivered();
};

}  // namespace resprout::shim
