#include "mpi/carriers/shared_slots/groups.hpp"

#include <algorithm>
#include <span>

#include "mpi/carriers/shared_slots/contributions.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"
#include "runtime/slot_records.hpp"

namespace resprout::shim {
namespace {

using protocols::SharedSlot;
using protocols::SlotGroup;
using runtime::SlotRecords;

// What all have brought, as far as it is summed already.
class GroupedContributions {
 public:
  GroupedContributions(CommunicatorSlots& shared_slots, const SharedSlot& slot, std::size_t size)
      : bytes(size), shared_slots_(shared_slots), slot_(slot), records_(shared_slots.slots, slot) {}

  // Everybody has brought so many bytes. What is not summed can be read from here on.
  bool are_alike() {
    if (!sum(shared_slots_.machine.everybody()).empty()) return true;
    const int group = shared_slots_.machine.group_size();
    for (int first = 0; first < count(); first += group)
      if (!are_alike({first, std::min(first + group, count())})) return false;
    return true;
  }
  int count() const { return shared_slots_.slots.size(); }
  std::span<const std::byte> of(int member) const {
    return {shared_slots_.slots.payload(member, slot_, bytes), bytes};
  }
  // Of `count` members from `first` on. Empty: it has to be made.
  std::span<const std::byte> sum(int first, int members) const {
    const int group = shared_slots_.machine.group_size();
    const int end = first + members;
    const bool is_group = first % group == 0 && (members == group || end == count());
    return is_group ? sum(SlotGroup{first, end}) : std::span<const std::byte>();
  }

  // The members of the group have.
  bool are_alike(const SlotGroup& group) {
    if (group == shared_slots_.machine.everybody()) return are_alike();
    if (!sum(group).empty()) return true;
    know_areas(shared_slots_, group.first, group.end);
    for (int member = group.first; member < group.end; ++member)
      if (shared_slots_.slots.bytes_of(member, slot_, bytes) != bytes) return false;
    return true;
  }

  const std::size_t bytes;

 private:
  std::span<const std::byte> sum(const SlotGroup& group) const {
    const bool is_one = group.end - group.first <= shared_slots_.machine.group_size();
    const bool is_all = group == shared_slots_.machine.everybody();
    return is_one || is_all ? records_.sum(group, bytes) : std::span<const std::byte>();
  }

  CommunicatorSlots& shared_slots_;
  const SharedSlot slot_;
  const SlotRecords records_;
};

// False: there is no sum.
bool sum_up(CommunicatorSlots& shared_slots, const SharedSlot& slot, const SlotGroup& group,
            const Summing& summing, std::byte* into) {
  GroupedContributions all(shared_slots, slot, summing.layout.packed_bytes);
  MpiCombiner combiner(summing.op, summing.layout);
  if (!all.are_alike(group)) return false;
  combine(all, group.first, group.end - group.first, combiner, {into, all.bytes});
  return combiner.code() == MPI_SUCCESS;
}

}  // namespace

bool maybe_take_record(CommunicatorSlots& shared_slots) {
  protocols::SharedSlots& machine = shared_slots.machine;
  if (!machine.has_groups()) return false;
  const SlotRecords records(shared_slots.slots, machine.slot());
  for (const SlotGroup& group : {machine.everybody(), machine.group()}) {
    if (!records.find(group).is_there) continue;
    machine.handle_record(group);
    return true;
  }
  return false;
}

void write_record(CommunicatorSlots& shared_slots, const Summing* summing) {
  const SharedSlot slot = shared_slots.machine.slot();
  const SlotGroup group = shared_slots.machine.poll_record();
  const SlotRecords records(shared_slots.slots, slot);
  if (!records.maybe_begin(group)) return;
  const bool has_sum =
      summing != nullptr && sum_up(shared_slots, slot, group, *summing, records.room(group));
  records.show(group, has_sum ? summing->layout.packed_bytes : 0);
}

void know_areas(CommunicatorSlots& shared_slots, int first, int end) {
  for (int member = first; member < end; ++member) {
    if (shared_slots.slots.knows(member)) continue;
    const int world_rank = shared_slots.members->world_rank(rank_at(member));
    const auto found = World::current()->engine().slot_pool().find(world_rank, shared_slots.name);
    if (found.area) shared_slots.slots.know(member, *found.area);
  }
}

int combine_groups(CommunicatorSlots& shared_slots, const SharedSlot& slot, const Summing& summing,
                   void* into) {
  GroupedContributions all(shared_slots, slot, summing.layout.packed_bytes);
  if (!all.are_alike()) return MPI_ERR_TRUNCATE;
  MpiCombiner combiner(summing.op, summing.layout);
  combine(all, 0, all.count(), combiner, {static_cast<std::byte*>(into), all.bytes});
  return combiner.code();
}

bool maybe_take_prefix(CommunicatorSlots& shared_slots) {
  protocols::SharedSlots& machine = shared_slots.machine;
  const SlotRecords records(shared_slots.slots, machine.slot());
  const int group = machine.group_size();
  const int begin = index(machine.awaited());
  for (int end = index(machine.range_end()) / group * group; end > begin; end -= group) {
    if (!records.find({0, end}).is_there) continue;
    machine.handle_prefix(rank_at(end));
    return true;
  }
  return false;
}

int read_prefix(const CommunicatorSlots& shared_slots, const SharedSlot& slot, int end,
                std::span<std::byte> into) {
  const SlotRecords records(shared_slots.slots, slot);
  const int group = shared_slots.machine.group_size();
  for (int last = end / group * group; last > 0; last -= group) {
    const auto sum = records.sum({0, last}, into.size());
    if (sum.empty()) continue;
    std::ranges::copy(sum, into.begin());
    return last;
  }
  return 0;
}

void write_prefix(const CommunicatorSlots& shared_slots, const SharedSlot& slot, int member,
                  std::span<const std::byte> sum) {
  const SlotGroup group{0, member + 1};
  if (group.end % shared_slots.machine.group_size() != 0) return;
  const SlotRecords records(shared_slots.slots, slot);
  if (!records.maybe_begin(group)) return;
  std::ranges::copy(sum, records.room(group));
  records.show(group, sum.size());
}

}  // namespace resprout::shim
