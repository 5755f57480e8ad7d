// Small collectives over slots in memory that all members share and that outlives them: the machine
// of one member for the life of a communicator's shared slots.
// docs/explanation/protocols/shared_slots.md says why all come to the same end.
//
// There are no messages. The driver does the step that the machine is at:
//   write   it writes of its own slot what poll_write says
//   look    it looks at the slot of awaited(), and says in handle_look what that says
//   record, record_all
//           it writes the record of the group that poll_record names, unless somebody has begun to
//   read    what was awaited is there: it reads the payloads from the slots that poll_read names
//   none    the operation is done; the next one may be started
//   over    it is not done here nor anywhere, and so are the shared slots
// What poll_write and poll_read return counts as done: the driver does it before anything else.
// A broadcast is done where its root's slot is full, a rendezvous where the slots of all members
// are. In a gather each member writes its slot and is done; who wants the payloads reads those of a
// range of members, as they come. A member that has ended without writing is left out: its slot
// stays empty for all who look. A gather is never over for a loss: who gave something is gone by
// then. So a member that knows of a loss writes its slot all the same. A rendezvous that bears
// losses leaves out as a gather does. It is done then, and the shared slots are over behind it.
//
// The members of a rendezvous are in groups, if they are many. The record of a group says that the
// slots of all its members are full, and one of them all that those of all members are. Who has
// looked at all slots of a group writes its record; who finds a record says so in handle_record,
// and need not look at these slots. Nobody waits for a record: what it says stands in the slots.
// Of a gather there may be records, too, that the slots of all members below some one are full: who
// has read these slots, and left out nobody, may write them before it goes on.
//
// Behind so many broadcasts and gathers a rendezvous without payload is due: that of the last of
// them is done then, and the machine is at `write` again.
//
// Invariants
//  1. A member writes one slot in a rendezvous, in a broadcast only as its root, in a gather if
//     anybody else reads it; and each once.
//  2. Who is over never writes again.
//  3. Whether an operation is done, and whom it leaves out, is a function of its slots, when they
//     change no more.
//  4. A slot is used again when nobody still reads it: who has done a rendezvous knows that all
//     have entered it, and so have done what was before; and there is one among as many broadcasts
//     and gathers as have slots, and one between two rendezvous that share a slot.
//     A record is written only while its writer is in that rendezvous, so this holds for it, too.
//  5. There is no gather before the first rendezvous: who has done that knows that all members
//     write.
//  6. Who has left out a member in a rendezvous writes no record any more: a record is written of
//     full slots only.
// Thread rule: a value.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "core/invariant.hpp"
#include "core/rank.hpp"
#include "protocols/shared_slots/slot.hpp"

namespace resprout::protocols {

class SharedSlots {
 public:
  using Config = SharedSlotsConfig;
  enum class Step : std::uint8_t { none, write, look, record, record_all, read, over };

  // REQUIRES: 0 <= self < config.members.
  SharedSlots(const SharedSlotsConfig& config, Rank self)
      : broadcast_mask_(config.broadcast_slots - 1),
        rendezvous_mask_(config.rendezvous_slots - 1),
        until_rendezvous_(config.broadcast_slots),
        members_(config.members),
        self_(index(self)),
        group_(config.group < config.members ? config.group : config.members) {
    RESPROUT_INVARIANT(self_ >= 0 && self_ < members_);
    RESPROUT_INVARIANT(is_power(config.broadcast_slots) && is_power(config.rendezvous_slots));
    RESPROUT_INVARIANT(is_power(static_cast<std::uint32_t>(config.group)));
  }

  Step step() const { return step_; }
  bool is_over() const { return step_ == Step::over; }
  // The slots of the operation under way; and those of the next one of each kind that is not done.
  SharedSlot slot() const {
    return kind_ == SlotKind::broadcast ? broadcast_slot() : rendezvous_slot();
  }
  SharedSlot broadcast_slot() const {
    return {SlotKind::broadcast, static_cast<std::uint32_t>(broadcasts_) & broadcast_mask_,
            broadcasts_};
  }
  SharedSlot rendezvous_slot() const {
    return {SlotKind::rendezvous, static_cast<std::uint32_t>(rendezvous_) & rendezvous_mask_,
            rendezvous_};
  }
  // All members are known to write their slots; else a rendezvous goes before a gather, at all
  // alike.
  bool can_gather() const { return rendezvous_ != 0; }
  // The operation under way is a gather.
  bool is_gathering() const { return kind_ == SlotKind::broadcast && losses_ != OfLosses::end_it; }
  // It leaves out who has ended without writing.
  bool bears_losses() const { return losses_ != OfLosses::end_it; }
  // It has left out somebody so far.
  bool is_short() const { return losses_ == OfLosses::somebody_is_left_out; }
  // REQUIRES: it is at `look`, or at `read` in a broadcast.
  Rank awaited() const { return rank_at(cursor_); }
  // Records may say as much as the slots that are looked at.
  bool has_groups() const { return kind_ == SlotKind::rendezvous && group_ < members_; }
  std::int32_t group_size() const { return group_; }
  bool is_recording() const { return step_ == Step::record || step_ == Step::record_all; }
  SlotGroup everybody() const { return {0, members_}; }
  // That of the awaited member. REQUIRES: has_groups(); it is at `look`.
  SlotGroup group() const { return {group_end_ - group_length(), group_end_}; }

  // --- what the program does. REQUIRES: the machine is at `none`

  // `knows_of_loss`: whether this process knows that any member is lost.
  void start_broadcast(Rank root, bool knows_of_loss) {
    RESPROUT_INVARIANT(step_ == Step::none);
    kind_ = SlotKind::broadcast;
    losses_ = OfLosses::end_it;
    end_ = group_end_ = 0;
    cursor_ = index(root);
    word_ = word_for(knows_of_loss);
    step_ = cursor_ != self_ ? Step::look : Step::write;
  }
  // This member reads the slots of [first, end) but its own. `gives`: others read its own.
  // REQUIRES: can_gather(); all say of the same members that somebody reads them.
  void start_gather(Rank first, Rank end, bool gives) {
    RESPROUT_INVARIANT(step_ == Step::none && can_gather());
    kind_ = SlotKind::broadcast;
    losses_ = OfLosses::are_borne;
    cursor_ = index(first);
    end_ = group_end_ = index(end);
    word_ = SlotWord::full;
    if (cursor_ == self_) ++cursor_;
    if (gives)
      step_ = Step::write;
    else if (cursor_ < end_)
      step_ = Step::look;
    else
      end_broadcast();
  }
  void start_rendezvous(bool knows_of_loss) {
    RESPROUT_INVARIANT(step_ == Step::none);
    become_rendezvous(word_for(knows_of_loss));
  }
  // A rendezvous that bears losses. REQUIRES: it does at all members.
  void start_bearing_rendezvous() {
    RESPROUT_INVARIANT(step_ == Step::none);
    become_rendezvous(SlotWord::full);
    losses_ = OfLosses::are_borne;
  }
  // A call that others carry, and that ends with a rendezvous, was broken off: this member does not
  // come to its end.
  void handle_interruption() { start_rendezvous(true); }
  // All members leave the shared slots together, or nobody is to wait any more: revoked. At any
  // step.
  void end() { step_ = Step::over; }

  // --- the steps

  // REQUIRES: it is at `write`.
  SlotWrite poll_write() {
    if (word_ == SlotWord::left) {
      step_ = Step::over;
      return {slot(), SlotWord::left};
    }
    const SharedSlot written = slot();
    if (kind_ == SlotKind::broadcast && cursor_ >= end_)
      end_broadcast();
    else
      look_on();
    return {written, SlotWord::full};
  }
  // `seen`: what the awaited member's slot says of this operation. `has_ended`: it was known
  // already before the look that its owner writes nothing any more. Else an empty slot changes
  // nothing.
  void handle_look(SlotWord seen, bool has_ended) {
    const bool is_left_out = bears_losses() && seen == SlotWord::empty && has_ended;
    if (seen == SlotWord::full || is_left_out) [[likely]] {
      if (is_left_out) losses_ = OfLosses::somebody_is_left_out;
      if (kind_ == SlotKind::broadcast && !bears_losses()) {
        step_ = Step::read;
      } else {
        ++cursor_;
        look_on();
      }
    } else if (seen == SlotWord::left || has_ended) {
      step_ = Step::over;
    }
  }
  // There is a record of group() or of everybody(). REQUIRES: has_groups(); it is at `look`.
  void handle_record(const SlotGroup& group) {
    cursor_ = group.end;
    if (group == everybody())
      step_ = Step::read;
    else
      enter_group();
  }
  // There is a record of all below that one. REQUIRES: it is at `look` in a gather whose range
  // begins with the first member, and is not behind that one.
  void handle_prefix(Rank end) {
    cursor_ = index(end);
    look_on();
  }
  // Behind the range of the gather.
  Rank range_end() const { return rank_at(end_); }
  // Whose record is to be written. REQUIRES: is_recording().
  SlotGroup poll_record() {
    if (step_ == Step::record_all) {
      step_ = Step::read;
      return everybody();
    }
    const SlotGroup recorded = group();
    enter_group();
    return recorded;
  }
  // Of a broadcast the slot of its root, of a rendezvous those of all, of a gather those of the
  // range: of them those that are full. Behind a rendezvous that is short the machine is over.
  // REQUIRES: it is at `read`.
  SharedSlot poll_read() {
    const SharedSlot seen = slot();
    if (kind_ == SlotKind::broadcast) {
      end_broadcast();
    } else {
      ++rendezvous_;
      until_rendezvous_ = broadcast_mask_ + 1;
      step_ = is_short() ? Step::over : Step::none;
    }
    return seen;
  }

 private:
  enum class OfLosses : std::uint8_t { end_it, are_borne, somebody_is_left_out };

  static bool is_power(std::uint32_t number) { return number != 0 && (number & (number - 1)) == 0; }

  static SlotWord word_for(bool knows_of_loss) {
    return knows_of_loss ? SlotWord::left : SlotWord::full;
  }
  void become_rendezvous(SlotWord word) {
    kind_ = SlotKind::rendezvous;
    losses_ = OfLosses::end_it;
    cursor_ = 0;
    end_ = members_;
    group_end_ = group_;
    word_ = word;
    step_ = Step::write;
  }
  // A member that knows of a loss by now takes part all the same: the slots settle what is due.
  void end_broadcast() {
    ++broadcasts_;
    step_ = Step::none;
    if (--until_rendezvous_ == 0) become_rendezvous(SlotWord::full);
  }
  // At the next of those whose slots are read.
  void look_on() {
    const bool is_at_self = cursor_ == self_ && cursor_ < group_end_;
    if (is_at_self) ++cursor_;
    if (cursor_ < group_end_) [[likely]]
      step_ = Step::look;
    else if (!has_groups())
      step_ = Step::read;
    else if (is_short())
      enter_group();
    else
      step_ = Step::record;
  }
  // That at the cursor, if there is one.
  void enter_group() {
    if (cursor_ >= members_) {
      step_ = is_short() ? Step::read : Step::record_all;
      return;
    }
    group_end_ = cursor_ + group_ < members_ ? cursor_ + group_ : members_;
    look_on();
  }
  std::int32_t group_length() const {
    const std::int32_t rest = group_end_ % group_;
    return rest == 0 ? group_ : rest;
  }

  std::uint64_t broadcasts_ = 0;  // that are done
  std::uint64_t rendezvous_ = 0;
  std::uint32_t broadcast_mask_;
  std::uint32_t rendezvous_mask_;
  std::uint32_t until_rendezvous_;  // broadcasts, until one is due
  std::int32_t members_;
  std::int32_t self_;
  std::int32_t group_;
  std::int32_t cursor_ = 0;     // whose slot is looked at
  std::int32_t end_ = 0;        // behind the last one
  std::int32_t group_end_ = 0;  // behind the last one of its group
  SlotKind kind_ = SlotKind::broadcast;
  Step step_ = Step::none;
  SlotWord word_ = SlotWord::full;  // that it has to write
  OfLosses losses_ = OfLosses::end_it;
};

static_assert(std::is_trivially_copyable_v<SharedSlots>);
static_assert(std::has_unique_object_representations_v<SharedSlots>);

}  // namespace resprout::protocols
