// An asynchronous world for the members of a communicator with lanes: memory that all share, and no
// messages. Everything that may happen next is an action, and somebody else chooses, as in
// sim/adversary/world.hpp, whose rules of crashes and suspicions hold here as well. The others:
//
//  1. All run the same program: broadcasts from any root, meetings, and calls that the library
//     below carries. Each step of a member is an action: it puts a payload into its slot, shows it
//     by the slot's stamp, looks at the slot of another member, reads what it has seen to be there.
//  2. What was written stays, whatever becomes of who wrote it. A payload without its stamp stands
//     where an earlier one stood, under that one's stamp.
//  3. Who is suspected may still run, and write. That it has ended is known to whom it was told
//     that it is lost, once it has.
//  4. A call of the library passes a member at any time. If anybody is lost it may be broken off at
//     any member instead, whether that one knows of the loss or not. Then a call that ends with a
//     meeting is over, and any other one is settled: that waits until all have come to it who live.
//  5. The communicator may be revoked: whoever hears of it, at any time, waits no longer.
//
// While it runs the world itself checks that what is read was written for the operation that reads
// it, by the member that it was looked for at.
// Thread rule: a value; a copy is a fork.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocols/lanes/lanes.hpp"
#include "sim/adversary/world.hpp"
#include "sim/lanes/outcome.hpp"

namespace resprout::sim {

// A rule that is broken on purpose, to see that it is found.
enum class LanesDefect : std::uint8_t {
  none,
  silence,     // who was interrupted in a call of the library leaves the lanes without a word
  finality,    // an empty slot is believed as soon as its owner is suspected
  slots,       // all meetings use the same slot
  meetings,    // no meeting is due behind broadcasts
  stamp,       // a slot is stamped before its payload is there
  suspicions,  // nobody is told of a suspicion
};

struct LaneOperation {
  enum class Kind : std::uint8_t {
    broadcast,
    meeting,
    native,       // carried by the library below
    native_meet,  // likewise, and it ends with a meeting
  };
  Kind kind;
  std::uint8_t root = 0;  // of a broadcast
};

struct LanesScene {
  protocols::LanesConfig config;
  std::vector<LaneOperation> program;  // at most lane_operations_bound
  bool may_be_revoked = false;
  LanesDefect defect = LanesDefect::none;
};

class LanesWorld {
 public:
  using Machine = protocols::Lanes;

  // REQUIRES: at most 32 members. `scene` outlives the world.
  explicit LanesWorld(const LanesScene& scene);

  int procs() const { return static_cast<int>(processes_.size()); }
  bool is_alive(int rank) const { return at(rank).is_alive; }
  bool is_doomed(int rank) const { return at(rank).is_doomed; }
  const std::string& violation() const { return violation_; }
  std::uint64_t messages_sent() const { return slots_written_; }

  void list_actions(const Mischief& mischief, std::vector<Action>& out) const;
  static bool is_at_rest(const LanesWorld& world, const std::vector<Action>& actions);
  int apply(const Action& action);
  void deliver_ignored(int) {}  // there are no messages
  std::string describe(const Action& action) const;
  std::vector<LanesOutcome> outcomes() const;
  std::pair<std::uint64_t, std::uint64_t> digest() const;

 private:
  struct Process {
    explicit Process(const Machine& fresh) : machine(fresh) {}
    Machine machine;
    std::array<std::array<LaneResult, 2>, lane_operations_bound> results{};
    std::uint32_t told = 0;      // bit of a member: that it is lost
    std::uint8_t operation = 0;  // of the program, where it is
    bool is_alive = true;
    bool is_doomed = false;
    bool has_ended = false;    // its program, or the lanes for it
    bool is_in_lanes = false;  // in an operation that goes over them
    bool is_writing = false;   // what is to be written is half there
    protocols::LaneWrite write{};
    bool is_settling = false;  // a native call
    bool is_behind = false;    // in the meeting that is due behind a broadcast
  };
  // Without padding: there are many, and a world is digested by its bytes.
  struct Slot {
    std::uint32_t number = 0;
    protocols::LaneWord word = protocols::LaneWord::empty;
    std::uint8_t payload = 0;  // name_of
    std::uint16_t nothing = 0;
  };
  static_assert(std::has_unique_object_representations_v<Slot>);

  const Process& at(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  Process& own(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  const LaneOperation& operation_of(const Process& process) const {
    return scene_->program[process.operation];
  }
  bool is_native(const Process& process) const {
    return operation_of(process).kind == LaneOperation::Kind::native ||
           operation_of(process).kind == LaneOperation::Kind::native_meet;
  }
  // Of the payload for where `process` is.
  static std::uint8_t name_of(const Process& process) {
    return static_cast<std::uint8_t>(2 * process.operation + (process.is_behind ? 2 : 1));
  }
  std::size_t place(int owner, const protocols::LaneSlot& slot) const;
  Slot& written_by(int rank) { return slots_[place(rank, at(rank).write.slot)]; }
  protocols::LaneWord seen_by(const Process& process) const;
  bool has_ended(const Process& process, int other) const;
  bool knows_of_loss(const Process& process) const {
    return scene_->defect != LanesDefect::suspicions && process.told != 0;
  }
  bool is_anybody_lost() const;
  bool has_everybody_come(int rank) const;
  bool may_go_on(int rank) const;
  bool may_be_interrupted(const Process& process) const;

  void go_on(int rank);
  void begin(int rank);
  void begin_write(int rank);
  void end_write(int rank);
  void put_payload(int rank);
  void show(int rank);
  void read(int rank);
  void interrupt(int rank);
  void revoke(int rank);
  void note_step(int rank);
  void pass(Process& process);
  void suspect(int rank, int other);
  void crash(int rank);
  std::string describe_step(int rank) const;
  void complain(int rank, const std::string& what) {
    if (violation_.empty()) violation_ = "member " + std::to_string(rank) + " " + what;
  }

  const LanesScene* scene_;
  std::vector<Process> processes_;
  std::vector<Slot> slots_;  // by owner; those of meetings first
  bool is_revoked_ = false;
  std::uint64_t slots_written_ = 0;
  std::string violation_;
};

}  // namespace resprout::sim
