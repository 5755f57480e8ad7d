// What members of the world of shared slots do with records of groups. See world.hpp.
#include <algorithm>

#include "sim/shared_slots/world.hpp"

namespace resprout::sim {

using protocols::SlotGroup;
using protocols::SlotWord;
using Step = protocols::SharedSlots::Step;

namespace {

// Whose records spare the machine looks. REQUIRES: it looks.
std::vector<SlotGroup> groups_ahead(const SharedSlotsWorld::Machine& machine, bool is_scan) {
  if (machine.has_groups()) return {machine.everybody(), machine.group()};
  std::vector<SlotGroup> prefixes;
  const int group = machine.group_size();
  if (!is_scan || group >= machine.everybody().end) return prefixes;
  for (int end = index(machine.range_end()) / group * group; end > index(machine.awaited());
       end -= group)
    prefixes.push_back({0, end});
  return prefixes;
}

}  // namespace

// Of a rendezvous that of all before that of the awaited one's group, of a scan the longest one.
std::optional<SlotGroup> SharedSlotsWorld::record_for(const Process& process) const {
  if (process.machine.step() != Step::look) return std::nullopt;
  for (const SlotGroup& group : groups_ahead(process.machine, is_scan(process)))
    if (records_.is_there(record_of(process, group))) return group;
  return std::nullopt;
}

// Unless somebody has begun to.
void SharedSlotsWorld::begin_record(int rank, const WorldRecords::Which& which) {
  Process& process = own(rank);
  check_record(rank, which);
  if (records_.is_begun(which)) return;
  records_.begin(which);
  process.half = {{which.slot, SlotWord::full}, which.group, true};
  process.is_writing = true;
  if (scene_->defect == SharedSlotsDefect::stamp)
    records_.show(which);
  else
    records_.put_payload(which, process.payload_name());
}

void SharedSlotsWorld::end_record(int rank) {
  Process& process = own(rank);
  const WorldRecords::Which which{process.life, process.half.group, process.half.write.slot};
  if (!records_.is_begun(which)) complain(rank, "has come too late with a record");
  if (scene_->defect == SharedSlotsDefect::stamp)
    records_.put_payload(which, process.payload_name());
  else
    records_.show(which);
  process.is_writing = false;
  process.half = {};
  note_step(rank);
}

// As a rule that is broken has it.
void SharedSlotsWorld::write_record_at_once(int rank, const SlotGroup& group) {
  const WorldRecords::Which which = record_of(at(rank), group);
  if (records_.is_begun(which)) return;
  records_.begin(which);
  records_.put_payload(which, at(rank).payload_name());
  records_.show(which);
}

// It is found, or about to be written: what it says stands in the slots.
void SharedSlotsWorld::check_record(int rank, const WorldRecords::Which& which) {
  for (int member = which.group.first; member < which.group.end; ++member) {
    const int owner = rank_of(lives_[at(rank).life], rank_at(member));
    const WorldSlots::Slot& written = slots_.of(which.life, owner, which.slot);
    if (written.word != SlotWord::full || written.number != which.slot.number ||
        written.is_left_out_of(which.slot))
      complain(rank, "has a record of what " + std::to_string(owner) + " has not written");
  }
}

// Those that are there of what it reads: of each group and of all.
std::vector<SlotGroup> SharedSlotsWorld::read_records(const Process& process) const {
  std::vector<SlotGroup> found;
  const Machine& machine = process.machine;
  const int group = machine.group_size();
  const int members = machine.everybody().end;
  if (group >= members || machine.is_short()) return found;
  const auto add = [&](const SlotGroup& one) {
    if (records_.is_there(record_of(process, one))) found.push_back(one);
  };
  if (is_scan(process)) {
    for (int end = group; end <= index(machine.range_end()); end += group) add({0, end});
  } else if (machine.has_groups()) {
    for (int first = 0; first < members; first += group)
      add({first, std::min(first + group, members)});
    add(machine.everybody());
  }
  return found;
}

}  // namespace resprout::sim
