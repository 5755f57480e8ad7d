// An asynchronous world for the members of a communicator with shared slots: memory that all share,
// and no messages. Everything that may happen next is an action, and somebody else chooses, as in
// sim/adversary/world.hpp, whose rules of crashes and suspicions hold here as well. The others:
//
//  1. All run the same program: broadcasts from any root, gathers to any root, scans, rendezvous
//     that bear losses or do not, and calls that the library below carries. A gather before the
//     first rendezvous is a rendezvous. Each step of a member is an action: it puts a payload into
//     its slot, shows it by the slot's stamp, looks at the slot of another member, reads what it
//     has seen to be there.
//  2. What was written stays, also if its writer dies. A payload without its stamp stands where an
//     earlier payload stood, under the stamp of the earlier one.
//  3. Who is suspected may still run, and write. That it has ended is known to whom it was told
//     that it is lost, once it has.
//  4. A call of the library passes a member at any time. If anybody is lost it may be broken off at
//     any member instead, whether that one knows of the loss or not. Then a call that ends with a
//     rendezvous is over, and any other one is settled: that waits until all have come to it who
//     live.
//  5. The communicator may be revoked. A member hears of it at any time, and then waits no longer.
//  6. What is over ends the program of each member that finds it so; or all run it again, over
//  trees.
//     These are no part of this world, but for what they promise: a call that synchronizes is
//     through once all have come to it but those who are known to be lost, and leaves out at all
//     alike who has not; unless somebody was through before, then it leaves out nobody. A broadcast
//     waits for its root only. Who has left somebody out goes on in new shared slots, whose name
//     tells who takes part. Who was left out and still runs goes on where it is, until it would
//     have to run something again: nobody speaks with it there, and what it concludes is about
//     other shared slots.
//  7. If an area is lacking, the last member writes nothing, and all its slots are left.
//  8. Records of groups lie in memory that all write. Who looks for one may come a moment before it
//     is there, and look at a slot then.
//
// While it runs the world itself checks that what is read was written for the operation that reads
// it, by the member that it was looked for at; and that what was left out was not written, and
// never is. Thread rule: a value; a copy is a fork.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocols/shared_slots/shared_slots.hpp"
#include "sim/adversary/world.hpp"
#include "sim/shared_slots/member_set.hpp"
#include "sim/shared_slots/outcome.hpp"
#include "sim/shared_slots/records.hpp"
#include "sim/shared_slots/slots.hpp"

namespace resprout::sim {

// A rule that is broken on purpose, to see that it is found.
enum class SharedSlotsDefect : std::uint8_t {
  none,
  silence,   // who was interrupted in a call of the library leaves the shared slots without a word
  finality,  // an empty slot is believed as soon as its owner is suspected
  slots,     // all rendezvous use the same slot
  rendezvous,  // no rendezvous is due behind broadcasts
  stamp,       // a slot is stamped before its payload is there
  suspicions,  // nobody is told of a suspicion
  lives,       // who has not been told of those who were left out stays in the old shared slots
  names,       // new shared slots lie where the old ones do
  areas,       // gathers do not wait for the first rendezvous, and a member has no area
  hearsay,     // whose owner has ended, that slot is believed to be empty without a look
  haste,       // a record is written without a look at the slots
  shortness,   // a record is written, too, where somebody is left out
  patience,    // who sees that a record was begun waits for it
};

struct SlotOperation {
  enum class Kind : std::uint8_t {
    broadcast,
    rendezvous,
    native,             // carried by the library below
    native_rendezvous,  // likewise, and it ends with a rendezvous
    gather,             // its root reads the slots of all others
    scan,               // each member reads the slots of those below it
    bearing_rendezvous,
  };
  Kind kind;
  std::uint8_t root = 0;  // of a broadcast or a gather
};

struct SharedSlotsScene {
  protocols::SharedSlotsConfig config;
  std::vector<SlotOperation> program;  // at most slot_operations_bound
  bool may_be_revoked = false;
  bool runs_again = false;            // what is over; else it ends the program
  bool broadcasts_leave_out = false;  // when they are run again: they synchronize then
  bool have_met = false;              // all, before the program
  bool lacks_area = false;
  SharedSlotsDefect defect = SharedSlotsDefect::none;
};

class SharedSlotsWorld {
 public:
  using Machine = protocols::SharedSlots;

  // REQUIRES: at most 32 members. `scene` outlives the world.
  explicit SharedSlotsWorld(const SharedSlotsScene& scene);

  int procs() const { return static_cast<int>(processes_.size()); }
  bool is_alive(int rank) const { return at(rank).is_alive; }
  bool is_doomed(int rank) const { return at(rank).is_doomed; }
  const std::string& violation() const { return violation_; }
  std::uint64_t messages_sent() const { return slots_written_; }

  void list_actions(const Mischief& mischief, std::vector<Action>& out) const;
  static bool is_at_rest(const SharedSlotsWorld& world, const std::vector<Action>& actions);
  int apply(const Action& action);
  void deliver_ignored(int) {}  // there are no messages
  std::string describe(const Action& action) const;
  std::vector<SharedSlotsOutcome> outcomes() const;
  std::pair<std::uint64_t, std::uint64_t> digest() const;

 private:
  // The one action of kind `interrupt` that is no call of the library's.
  static constexpr std::uint8_t by_revocation = 1;
  // Of kind `wake`: a look for a record came too early.
  static constexpr std::uint8_t without_records = 1;

  // A slot of its own, or the record of a group.
  struct Half {
    protocols::SlotWrite write{};
    protocols::SlotGroup group{};
    bool is_record = false;
  };
  struct Process {
    explicit Process(const Machine& fresh) : machine(fresh) {}

    // To settle that operation, or it is through.
    bool has_come(int to) const {
      return has_ended || operation > to || (operation == to && is_settling);
    }
    // Of the payload for where it is.
    std::uint8_t payload_name() const {
      return static_cast<std::uint8_t>(2 * operation + (is_behind ? 2 : 1));
    }

    Machine machine;
    std::array<std::array<SlotResult, 2>, slot_operations_bound> results{};
    std::array<std::uint8_t, slot_operations_bound> lives{};  // of these results
    std::uint32_t told = 0;                                   // bit of a member: that it is lost
    std::uint32_t agreed = 0;                                 // likewise: that it takes part
    std::uint8_t life = 0;                                    // whose shared slots it is in
    std::uint8_t operation = 0;                               // of the program, where it is
    bool is_alive = true;
    bool is_doomed = false;
    bool has_ended = false;           // its program, or the shared slots for it
    bool is_in_shared_slots = false;  // in an operation that goes over them
    bool is_writing = false;          // what is to be written is half there
    Half half{};
    bool is_settling = false;  // a native call, or one that is over and run again
    bool is_native_over = false;
    bool is_left_out = false;  // by others, who have agreed on it
    bool is_revoked = false;
    bool is_behind = false;  // in the rendezvous that is due behind a broadcast
  };

  const Process& at(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  Process& own(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  const SlotOperation& operation_of(const Process& process) const {
    return scene_->program[process.operation];
  }
  // In a scan that is none of a rendezvous.
  bool is_scan(const Process& process) const {
    return operation_of(process).kind == SlotOperation::Kind::scan &&
           process.machine.is_gathering();
  }
  int awaited(const Process& process) const {
    return rank_of(lives_[process.life], process.machine.awaited());
  }
  WorldSlots::Slot& written_by(int rank) {
    return slots_.of(at(rank).life, rank, at(rank).half.write.slot);
  }
  protocols::SlotWord seen_by(const Process& process) const;
  std::optional<protocols::SlotGroup> record_for(const Process& process) const;
  // Of the operation over shared slots where it is.
  static WorldRecords::Which record_of(const Process& process, const protocols::SlotGroup& group) {
    return {process.life, group, process.machine.slot()};
  }
  bool has_ended(const Process& process, int other) const;
  bool knows_of_loss(const Process& process) const {
    return scene_->defect != SharedSlotsDefect::suspicions &&
           (process.told & lives_[process.life]) != 0;
  }
  bool is_anybody_lost() const;
  bool has_everybody_come(int rank) const;
  bool has_to_run_again(const Process& process) const;
  bool may_settle(int rank) const;
  bool may_go_on(int rank) const;
  bool may_see_slot(const Process& process) const;
  bool may_be_interrupted(const Process& process) const;

  void go_on(int rank, bool sees_records);
  void look(int rank, bool sees_records);
  void begin(int rank);
  void begin_write(int rank);
  void end_write(int rank);
  void put_payload(int rank);
  void show(int rank);
  void begin_record(int rank, const WorldRecords::Which& which);
  void end_record(int rank);
  void write_record_at_once(int rank, const protocols::SlotGroup& group);
  void check_record(int rank, const WorldRecords::Which& which);
  std::vector<protocols::SlotGroup> read_records(const Process& process) const;
  void read(int rank);
  void interrupt(int rank);
  void revoke(int rank);
  void note_step(int rank);
  void end_shared_slots(Process& process);
  void pass(Process& process);
  std::uint32_t decide(int rank);
  void settle(int rank);
  void leave_out(Process& process, std::uint32_t agreed);
  std::string describe_step(int rank, bool sees_records) const;
  void complain(int rank, const std::string& what) {
    if (violation_.empty()) violation_ = "member " + std::to_string(rank) + " " + what;
  }

  const SharedSlotsScene* scene_;
  std::vector<Process> processes_;
  std::vector<std::uint32_t> lives_;  // who takes part
  WorldSlots slots_;
  WorldRecords records_;
  std::vector<std::uint32_t> decided_;  // of what is run again: who takes part from there on
  bool is_revoked_ = false;
  std::uint64_t slots_written_ = 0;
  std::string violation_;
};

}  // namespace resprout::sim
