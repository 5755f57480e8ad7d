// See world.hpp.
#include "sim/shared_slots/world.hpp"

#include <algorithm>
#include <bit>

#include "sim/adversary/state_digest.hpp"

namespace resprout::sim {

using protocols::SharedSlotsConfig;
using protocols::SlotGroup;
using protocols::SlotKind;
using protocols::SlotWord;
using Step = protocols::SharedSlots::Step;
using Kind = SlotOperation::Kind;

namespace {

// What is decided of a call that somebody was through before.
constexpr std::uint32_t valid = 0xffffffff;

SharedSlotsConfig config_of(const SharedSlotsScene& scene, int members) {
  SharedSlotsConfig config = scene.config;
  config.members = members;
  if (scene.defect == SharedSlotsDefect::slots) config.rendezvous_slots = 1;
  if (scene.defect == SharedSlotsDefect::rendezvous) config.broadcast_slots = 1U << 16;
  return config;
}

// Of somebody who has done one rendezvous with all others.
SharedSlotsWorld::Machine after_rendezvous(SharedSlotsWorld::Machine machine) {
  machine.start_rendezvous(false);
  machine.poll_write();
  while (machine.step() == Step::look || machine.is_recording())
    machine.is_recording() ? static_cast<void>(machine.poll_record())
                           : machine.handle_look(SlotWord::full, false);
  machine.poll_read();
  return machine;
}

// Whose payloads a gather or a scan among `members` brings to `rank`: a bit of each.
std::uint32_t givers_to(int rank, const SlotOperation& operation, std::uint32_t members) {
  if (operation.kind == Kind::scan) return members & ((1U << rank) - 1);
  return operation.root == rank ? members & ~(1U << rank) : 0;
}

bool has_area(int rank, const SharedSlotsScene& scene) {
  return !scene.lacks_area || rank + 1 != scene.config.members;
}

bool is_native(const SlotOperation& operation) {
  return operation.kind == Kind::native || operation.kind == Kind::native_rendezvous;
}

// Who is lost, when it is run again.
bool leaves_out(const SlotOperation& operation, const SharedSlotsScene& scene) {
  if (operation.kind == Kind::gather || operation.kind == Kind::scan) return false;
  return operation.kind != Kind::broadcast || scene.broadcasts_leave_out;
}

}  // namespace

SharedSlotsWorld::SharedSlotsWorld(const SharedSlotsScene& scene)
    : scene_(&scene),
      slots_(scene.config, scene.defect == SharedSlotsDefect::names),
      records_(scene.config) {
  const int members = scene.config.members;
  for (int rank = 0; rank < members; ++rank) {
    const Machine fresh(config_of(scene, members), rank_at(rank));
    processes_.emplace_back(scene.have_met ? after_rendezvous(fresh) : fresh);
  }
  const std::uint32_t everybody = members == 32 ? ~0U : (1U << members) - 1;
  lives_.push_back(everybody);
  if (scene.runs_again) decided_.resize(scene.program.size());
  for (Process& process : processes_) {
    process.agreed = everybody;
    process.has_ended = scene.program.empty();
  }
}

SlotWord SharedSlotsWorld::seen_by(const Process& process) const {
  if (!has_area(awaited(process), *scene_)) return SlotWord::left;
  const WorldSlots::Slot& slot = slots_.of(process.life, awaited(process), process.machine.slot());
  const bool is_of_it = slot.number == process.machine.slot().number;
  return is_of_it ? slot.word : SlotWord::empty;
}

bool SharedSlotsWorld::has_ended(const Process& process, int other) const {
  const bool is_told = (process.told >> other & 1) != 0 && knows_of_loss(process);
  return is_told && (!at(other).is_alive || scene_->defect == SharedSlotsDefect::finality);
}

bool SharedSlotsWorld::is_anybody_lost() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const Process& process) { return process.is_doomed; });
}

// To the call that `rank` settles, but for those whom it knows to be lost.
bool SharedSlotsWorld::has_everybody_come(int rank) const {
  const Process& process = at(rank);
  const std::uint32_t awaited = process.agreed & ~process.told;
  for (int other = 0; other < procs(); ++other)
    if ((awaited >> other & 1) != 0 && !at(other).has_come(process.operation)) return false;
  return true;
}

// Neither shared slots nor the library carry the call that it begins.
bool SharedSlotsWorld::has_to_run_again(const Process& process) const {
  if (!scene_->runs_again) return false;
  const Kind kind = operation_of(process).kind;
  const bool may_go_natively = process.agreed == lives_.front() && !process.is_native_over;
  if (kind == Kind::native) return !may_go_natively;
  return process.machine.is_over() || (kind == Kind::native_rendezvous && !may_go_natively);
}

bool SharedSlotsWorld::may_settle(int rank) const {
  const Process& process = at(rank);
  const SlotOperation& operation = operation_of(process);
  if (process.is_left_out) return false;
  if (scene_->runs_again && !leaves_out(operation, *scene_)) {
    const bool is_broadcast = operation.kind == Kind::broadcast;
    const std::uint32_t awaited =
        is_broadcast ? 1U << operation.root : givers_to(rank, operation, lives_[process.life]);
    for (int other = 0; other < procs(); ++other)
      if (other != rank && ((awaited & ~process.told) >> other & 1) != 0 &&
          !at(other).has_come(process.operation))
        return false;
    return true;
  }
  if (scene_->runs_again && decided_[process.operation] != 0)
    return (decided_[process.operation] >> rank & 1) != 0;
  return has_everybody_come(rank);
}

// --- what may happen
// ------------------------------------------------------------------------------

bool SharedSlotsWorld::may_go_on(int rank) const {
  const Process& process = at(rank);
  if (process.is_settling) return may_settle(rank);
  if (!process.is_in_shared_slots || process.is_writing || process.machine.step() != Step::look)
    return true;
  const Machine& machine = process.machine;
  const bool waits_for_record = scene_->defect == SharedSlotsDefect::patience &&
                                machine.has_groups() && !record_for(process) &&
                                records_.is_begun(record_of(process, machine.group()));
  return !waits_for_record && (record_for(process) || may_see_slot(process));
}

bool SharedSlotsWorld::may_see_slot(const Process& process) const {
  return seen_by(process) != SlotWord::empty || has_ended(process, awaited(process));
}

bool SharedSlotsWorld::may_be_interrupted(const Process& process) const {
  return !process.is_in_shared_slots && !process.is_settling && is_native(operation_of(process)) &&
         is_anybody_lost() && !has_to_run_again(process);
}

void SharedSlotsWorld::list_actions(const Mischief& mischief, std::vector<Action>& out) const {
  out.clear();
  const auto add = [&out](ActionKind kind, int a, int b = 0) {
    out.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)});
  };
  for (int rank = 0; rank < procs(); ++rank) {
    const Process& process = at(rank);
    if (!process.is_alive) continue;
    if (process.is_doomed || mischief.crashes > 0) add(ActionKind::crash, rank);
    if (process.has_ended) continue;
    if (may_go_on(rank)) add(ActionKind::wake, rank);
    const bool is_crossing = process.is_in_shared_slots && !process.is_writing;
    if (is_crossing && record_for(process) && may_see_slot(process))
      add(ActionKind::wake, rank, without_records);
    if (may_be_interrupted(process)) add(ActionKind::interrupt, rank);
    if (scene_->may_be_revoked) add(ActionKind::interrupt, rank, by_revocation);
    for (int other = 0; other < procs(); ++other) {
      if (other == rank || (process.told >> other & 1) != 0) continue;
      const bool may_slander = mischief.suspects_the_living &&
                               (mischief.crashes > 0 || at(other).is_doomed) && at(other).is_alive;
      if (may_slander || !at(other).is_alive) add(ActionKind::suspect, rank, other);
    }
  }
}

bool SharedSlotsWorld::is_at_rest(const SharedSlotsWorld& world,
                                  const std::vector<Action>& actions) {
  return std::all_of(actions.begin(), actions.end(), [&world](const Action& action) {
    switch (action.kind) {
      case ActionKind::crash:
        return !world.is_doomed(action.a);
      case ActionKind::suspect:
        return !world.is_doomed(action.b);
      case ActionKind::interrupt:
        return action.b == by_revocation && !world.is_revoked_;
      default:
        return false;
    }
  });
}

// --- what happens
// ---------------------------------------------------------------------------------

int SharedSlotsWorld::apply(const Action& action) {
  switch (action.kind) {
    case ActionKind::wake:
      go_on(action.a, action.b != without_records);
      break;
    case ActionKind::interrupt:
      action.b == by_revocation ? revoke(action.a) : interrupt(action.a);
      break;
    case ActionKind::suspect:
      own(action.b).is_doomed = true;
      own(action.a).told |= 1U << action.b;
      break;
    case ActionKind::crash:
      own(action.a).is_alive = false;
      own(action.a).is_doomed = true;
      break;
    case ActionKind::deliver:
    case ActionKind::send:
    case ActionKind::lose:
    case ActionKind::enter:
    case ActionKind::corrupt:
      break;
  }
  return action.a;
}

void SharedSlotsWorld::go_on(int rank, bool sees_records) {
  Process& process = own(rank);
  if (process.is_settling) {
    settle(rank);
    return;
  }
  if (process.is_writing) {
    process.half.is_record ? end_record(rank) : end_write(rank);
    return;
  }
  if (!process.is_in_shared_slots) {
    begin(rank);
    if (!process.is_writing) note_step(rank);
    return;
  }
  switch (process.machine.step()) {
    case Step::write:  // due behind a broadcast, without a payload
      begin_write(rank);
      if (process.is_writing) end_write(rank);
      return;
    case Step::look:
      look(rank, sees_records);
      break;
    case Step::record:
    case Step::record_all: {
      const SlotGroup group = process.machine.poll_record();
      begin_record(rank, record_of(process, group));
      break;
    }
    case Step::read:
      read(rank);
      break;
    case Step::none:
    case Step::over:
      break;
  }
  if (!process.is_writing) note_step(rank);
}

void SharedSlotsWorld::look(int rank, bool sees_records) {
  Process& process = own(rank);
  const auto record = sees_records ? record_for(process) : std::nullopt;
  if (record) {
    check_record(rank, record_of(process, *record));
    if (is_scan(process))
      process.machine.handle_prefix(rank_at(record->end));
    else
      process.machine.handle_record(*record);
    return;
  }
  const int other = awaited(process);
  const bool is_final = has_ended(process, other);
  const bool is_hearsay = is_final && scene_->defect == SharedSlotsDefect::hearsay;
  const SlotWord seen = is_hearsay ? SlotWord::empty : seen_by(process);
  const protocols::SharedSlot slot = process.machine.slot();
  if (process.machine.bears_losses() && seen == SlotWord::empty && is_final) {
    if (seen_by(process) != SlotWord::empty)
      complain(rank, "leaves out what " + std::to_string(other) + " has written");
    slots_.of(process.life, other, slot).left_out_before =
        static_cast<std::uint16_t>(slot.number + 1);
    if (scene_->defect == SharedSlotsDefect::shortness && process.machine.has_groups())
      write_record_at_once(rank, process.machine.group());
  }
  process.machine.handle_look(seen, is_final);
}

void SharedSlotsWorld::begin(int rank) {
  Process& process = own(rank);
  const SlotOperation& operation = operation_of(process);
  const bool has_root = operation.kind == Kind::broadcast || operation.kind == Kind::gather;
  if (has_root && (process.agreed >> operation.root & 1) == 0) {
    pass(process);  // nobody has anything of it
    return;
  }
  if (has_to_run_again(process)) {
    process.is_settling = true;
    return;
  }
  if (operation.kind == Kind::native) {
    pass(process);
    return;
  }
  process.is_in_shared_slots = true;
  const bool knows = knows_of_loss(process);
  const auto end = rank_at(std::popcount(lives_[process.life]));
  const Rank self = member_of(lives_[process.life], rank);
  const bool is_scan = operation.kind == Kind::scan;
  switch (operation.kind) {
    case Kind::broadcast:
      process.machine.start_broadcast(member_of(lives_[process.life], operation.root), knows);
      break;
    case Kind::rendezvous:
      process.machine.start_rendezvous(knows);
      break;
    case Kind::bearing_rendezvous:
      process.machine.start_bearing_rendezvous();
      break;
    case Kind::native:
    case Kind::native_rendezvous:
      process.machine.start_rendezvous(false);
      break;
    case Kind::gather:
    case Kind::scan: {
      const bool is_root = !is_scan && operation.root == rank;
      if (!process.machine.can_gather())
        process.machine.start_rendezvous(knows);
      else
        process.machine.start_gather(rank_at(0),
                                     is_scan   ? self
                                     : is_root ? end
                                               : rank_at(0),
                                     is_scan ? index(self) + 1 < index(end) : !is_root);
      break;
    }
  }
  if (process.machine.step() == Step::write) begin_write(rank);
}

// The payload and its stamp are two steps.
void SharedSlotsWorld::begin_write(int rank) {
  Process& process = own(rank);
  if (!has_area(rank, *scene_)) {
    process.machine.end();
    note_step(rank);
    return;
  }
  process.half = {process.machine.poll_write(), {}, false};
  process.is_writing = true;
  if (process.half.write.word == SlotWord::full)
    scene_->defect == SharedSlotsDefect::stamp ? show(rank) : put_payload(rank);
}

void SharedSlotsWorld::end_write(int rank) {
  Process& process = own(rank);
  if (scene_->defect == SharedSlotsDefect::stamp && process.half.write.word == SlotWord::full)
    put_payload(rank);
  else
    show(rank);
  ++slots_written_;
  process.is_writing = false;
  process.half = {};
  if (scene_->defect == SharedSlotsDefect::haste && process.machine.has_groups() &&
      process.machine.step() == Step::look)
    write_record_at_once(rank, process.machine.group());
  note_step(rank);
}

void SharedSlotsWorld::put_payload(int rank) { written_by(rank).payload = at(rank).payload_name(); }

void SharedSlotsWorld::show(int rank) {
  if (written_by(rank).is_left_out_of(at(rank).half.write.slot))
    complain(rank, "writes what was left out");
  written_by(rank).number = static_cast<std::uint32_t>(at(rank).half.write.slot.number);
  written_by(rank).word = at(rank).half.write.word;
}

// Of a broadcast one payload, of what bears losses those that were not left out, of a rendezvous
// those of all.
void SharedSlotsWorld::read(int rank) {
  Process& process = own(rank);
  const bool is_broadcast = process.machine.slot().kind == SlotKind::broadcast;
  const bool is_gather = is_broadcast && process.machine.is_gathering();
  const std::uint32_t owners = is_gather
                                   ? givers_to(rank, operation_of(process), lives_[process.life])
                               : is_broadcast ? 1U << awaited(process)
                                              : lives_[process.life];
  const bool bears_losses = process.machine.bears_losses();
  for (const SlotGroup& group : read_records(process))
    if (records_.payload(record_of(process, group)) != process.payload_name())
      complain(rank, "reads from a record what is not of its operation " +
                         std::to_string(process.operation + 1));
  const int group = process.machine.group_size();
  const bool may_record =
      is_scan(process) && !process.machine.is_short() && group < process.machine.everybody().end;
  const int prefix = may_record ? index(process.machine.range_end()) / group * group : 0;
  const protocols::SharedSlot slot = process.machine.poll_read();
  for (int owner = 0; owner < procs(); ++owner) {
    if ((owners >> owner & 1) == 0) continue;
    const WorldSlots::Slot& written = slots_.of(process.life, owner, slot);
    if (bears_losses && written.is_left_out_of(slot)) continue;
    if (written.payload != process.payload_name())
      complain(rank, "reads from " + std::to_string(owner) + " what is not of its operation " +
                         std::to_string(process.operation + 1));
  }
  if (prefix != 0) begin_record(rank, {process.life, {0, prefix}, slot});
  if (!process.machine.is_over()) return;
  // The operation is short: it is done, and the next one is for new shared slots.
  process.lives[process.operation] = process.life;
  process.results[process.operation][0] = SlotResult::done;
  process.is_in_shared_slots = false;
  pass(process);
  if (!scene_->runs_again) process.has_ended = true;
}

// The machine may have come to the end of the operation, of the shared slots, or of what is before
// the rendezvous that is due.
void SharedSlotsWorld::note_step(int rank) {
  Process& process = own(rank);
  if (!process.is_in_shared_slots) return;
  const Step step = process.machine.step();
  process.lives[process.operation] = process.life;
  SlotResult& result = process.results[process.operation][process.is_behind ? 1 : 0];
  const bool is_due = step == Step::write && !process.is_behind;
  if (step == Step::over) {
    result = SlotResult::over;
    end_shared_slots(process);
  } else if (is_due) {
    result = SlotResult::done;
    process.is_behind = true;
  } else if (step == Step::none) {
    result = SlotResult::done;
    process.is_behind = false;
    process.is_in_shared_slots = false;
    pass(process);
  }
}

// What was before the rendezvous that is due is done.
void SharedSlotsWorld::end_shared_slots(Process& process) {
  if (!scene_->runs_again) {
    process.has_ended = true;
    return;
  }
  process.is_in_shared_slots = false;
  process.is_settling = !process.is_behind;
  if (std::exchange(process.is_behind, false)) pass(process);
}

void SharedSlotsWorld::pass(Process& process) {
  ++process.operation;
  process.has_ended = process.operation == scene_->program.size();
}

// Who is the first one to be through decides for all.
std::uint32_t SharedSlotsWorld::decide(int rank) {
  const Process& process = at(rank);
  std::uint32_t come = 0;
  for (int other = 0; other < procs(); ++other) {
    const std::uint32_t bit = 1U << other;
    if ((process.agreed & bit) == 0 || !at(other).has_come(process.operation)) continue;
    const bool is_through = at(other).operation > process.operation;
    if (is_through && (process.told & bit) == 0) return valid;
    if (!is_through) come |= bit;
  }
  for (int other = 0; other < procs(); ++other)
    if ((process.agreed & ~come & 1U << other) != 0) own(other).is_left_out = true;
  return come;
}

void SharedSlotsWorld::settle(int rank) {
  Process& process = own(rank);
  if (scene_->runs_again && leaves_out(operation_of(process), *scene_)) {
    std::uint32_t& decided = decided_[process.operation];
    if (decided == 0) decided = decide(rank);
    if (decided != valid) leave_out(process, decided);
  }
  process.is_settling = false;
  pass(process);
}

// REQUIRES: it is one of those who are left.
void SharedSlotsWorld::leave_out(Process& process, std::uint32_t agreed) {
  process.is_native_over = true;
  const std::uint32_t left_out = process.agreed & ~agreed;
  process.agreed = agreed;
  const bool stays = scene_->defect == SharedSlotsDefect::lives && (process.told & left_out) == 0;
  if (left_out == 0 || stays) return;
  const auto known = std::find(lives_.begin(), lives_.end(), agreed);
  const auto life = static_cast<std::uint8_t>(known - lives_.begin());
  if (known == lives_.end()) {
    lives_.push_back(agreed);
    slots_.grow(lives_.size());
    records_.grow(lives_.size());
  }
  const auto rank = static_cast<int>(&process - processes_.data());
  process.life = life;
  process.machine =
      Machine(config_of(*scene_, std::popcount(agreed)), member_of(lives_[process.life], rank));
}

void SharedSlotsWorld::interrupt(int rank) {
  Process& process = own(rank);
  if (scene_->defect == SharedSlotsDefect::silence) {
    process.is_in_shared_slots = true;
    process.machine.end();
    note_step(rank);
  } else if (operation_of(process).kind == Kind::native) {
    process.is_settling = true;
  } else {
    process.is_in_shared_slots = true;
    process.machine.handle_interruption();
    begin_write(rank);
  }
}

void SharedSlotsWorld::revoke(int rank) {
  is_revoked_ = true;
  Process& process = own(rank);
  process.machine.end();
  process.lives[process.operation] = process.life;
  process.results[process.operation][process.is_behind ? 1 : 0] = SlotResult::given_up;
  process.is_settling = process.is_writing = false;
  process.half = {};
  process.has_ended = process.is_revoked = true;
}

std::vector<SharedSlotsOutcome> SharedSlotsWorld::outcomes() const {
  std::vector<SharedSlotsOutcome> outcomes;
  for (const Process& process : processes_) {
    SharedSlotsOutcome& outcome = outcomes.emplace_back();
    outcome.is_survivor = process.is_alive && !process.is_doomed;
    outcome.has_ended = process.has_ended;
    outcome.is_revoked = process.is_revoked;
    outcome.agreed = process.agreed;
    outcome.results = process.results;
    for (std::size_t i = 0; i < slot_operations_bound; ++i)
      if (process.results[i][0] != SlotResult::none)
        outcome.shared_slots[i] = lives_[process.lives[i]];
    for (const auto& parts : process.results)
      for (const SlotResult result : parts)
        outcome.failed |= result == SlotResult::over && !scene_->lacks_area;
  }
  return outcomes;
}

// --- for the explorer
// -----------------------------------------------------------------------------

std::pair<std::uint64_t, std::uint64_t> SharedSlotsWorld::digest() const {
  StateDigest digest;
  digest.add(is_revoked_ ? 1 : 0);
  for (const Process& process : processes_) {
    digest.add(process.is_alive | process.is_doomed << 1 | process.has_ended << 2 |
               process.is_in_shared_slots << 3 | process.is_settling << 4 | process.is_behind << 5 |
               process.is_writing << 6 | process.is_native_over << 7 | process.is_left_out << 8 |
               std::uint64_t{process.operation} << 16 | std::uint64_t{process.told} << 24);
    digest.add(std::uint64_t{process.agreed} << 8 | process.life);
    digest.add_bytes(process.results);
    digest.add_bytes(process.lives);
    const Half& half = process.half;
    digest.add(half.write.slot.number << 8 | static_cast<std::uint8_t>(half.write.word));
    if (half.is_record)
      digest.add(static_cast<std::uint64_t>(half.group.first) << 32 |
                 static_cast<std::uint64_t>(half.group.end));
    if (process.is_alive && !process.has_ended) digest.add_bytes(process.machine);
  }
  digest.add_all_bytes(slots_.all());
  digest.add_all_bytes(records_.all());
  digest.add_all_bytes(lives_);
  digest.add_all_bytes(decided_);
  return digest.value();
}

}  // namespace resprout::sim
