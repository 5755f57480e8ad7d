#include "mpi/carriers/lanes/run.hpp"

#include <algorithm>
#include <array>

#include "mpi/carriers/lanes/crossing.hpp"
#include "mpi/carriers/lanes/gathers.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::LaneSlot;
using protocols::LaneWord;
using runtime::LaneMemory;
using Form = LaneWay::Form;
using Step = protocols::Lanes::Step;

// What all members have given, without an allocation.
class AllBrought {
 public:
  void add(int rank, std::span<const std::byte> data) { all_[count_++] = {rank, data}; }
  std::span<const Brought> view() const { return {all_.data(), count_}; }

 private:
  std::array<Brought, runtime::LanePool::members_max> all_;
  std::size_t count_ = 0;
};

struct BroughtPayloads {
  const std::span<const Brought> all;
  const std::size_t bytes;

  std::span<const std::byte> of(int i) const { return all[static_cast<std::size_t>(i)].data; }
  bool are_alike() const {
    return std::ranges::all_of(all, [this](const Brought& it) { return it.data.size() == bytes; });
  }
};

bool is_gather(Form form) { return form == Form::to_root || form == Form::prefix; }

bool combines(Kind kind) {
  return kind == Kind::allreduce || kind == Kind::reduce || kind == Kind::scan ||
         kind == Kind::reduce_scatter;
}

Share share_of(const CommunicatorLanes& lanes, const LaneWay& way, Rank root) {
  return way.form == Form::prefix ? share_of_prefix(lanes, way.is_inclusive)
                                  : share_to(lanes, root);
}

}  // namespace

bool fits_lanes(const LaneWay& way, int members) {
  if (combines(way.kind) && !is_predefined(way.op)) return false;
  if (way.kind == Kind::barrier) return true;
  if (way.form == Form::broadcast)
    return way.bytes > 0 && way.bytes <= LaneMemory::broadcast_bytes_max;
  return can_be_contribution(way.bytes, members);
}

bool LaneRun::is_carried() {
  if (!open_lanes(communicator_, way_.kind)) return false;
  const CommunicatorLanes& lanes = *communicator_.lanes;
  root_ = way_.root >= 0 ? lanes.member(way_.root) : no_rank;
  const bool needs_root = way_.form == Form::broadcast || way_.kind == Kind::scatter;
  if (needs_root && root_ == no_rank) return false;
  return fits_lanes(way_, lanes.slots.size());
}

int combine_brought(std::span<const Brought> all, MPI_Op op, const Layout& layout, void* into) {
  const BroughtPayloads payloads{all, layout.packed_bytes};
  if (!payloads.are_alike()) return MPI_ERR_TRUNCATE;
  if (all.empty()) return MPI_SUCCESS;
  MpiCombiner combiner(op, layout);
  combine(payloads, 0, static_cast<int>(all.size()), combiner,
          {static_cast<std::byte*>(into), layout.packed_bytes});
  return combiner.code();
}

int fold_brought(std::span<const Brought> all, int end, MPI_Op op, const Layout& layout,
                 void* into) {
  const BroughtPayloads payloads{all, layout.packed_bytes};
  if (!payloads.are_alike()) return MPI_ERR_TRUNCATE;
  alignas(64) std::array<std::array<std::byte, LaneMemory::meeting_bytes_max>, 2> sums;
  MpiCombiner combiner(op, layout);
  int count = 0;
  for (const auto& [rank, data] : all) {
    if (rank >= end) break;
    const std::span upper(sums[static_cast<std::size_t>(count % 2)].data(), data.size());
    std::memcpy(upper.data(), data.data(), data.size());
    const auto& lower = sums[static_cast<std::size_t>((count + 1) % 2)];
    if (count != 0) combiner.combine({lower.data(), data.size()}, upper);
    ++count;
  }
  if (count != 0)
    std::memcpy(into, sums[static_cast<std::size_t>((count + 1) % 2)].data(), layout.packed_bytes);
  return combiner.code();
}

// A gather that lanes do not carry yet is a meeting.
void LaneRun::begin(std::span<const std::byte> mine) {
  lanes_ = communicator_.lanes;
  CommunicatorLanes& lanes = *lanes_;
  const bool has_no_root = way_.form == Form::to_root && root_ == no_rank;
  if (is_gather(way_.form) && (!can_gather(lanes, way_.bytes) || has_no_root))
    way_.form = Form::meeting;
  mine_ = mine;
  protocols::Lanes& machine = lanes.machine;
  lanes.missing.seen_ns = 0;
  if (way_.form == Form::broadcast) {
    machine.start_broadcast(root_, has_to_leave(lanes));
  } else if (way_.form == Form::meeting) {
    machine.start_meeting(has_to_leave(lanes));
  } else {
    const Share share = share_of(lanes, way_, root_);
    machine.start_gather(rank_at(0), rank_at(share.end), share.gives);
    if (!share.gives && !reads()) return;
  }
  write_own();
}

// Of a gather: others give something that this member wants.
bool LaneRun::reads() const {
  const int end = share_of(*lanes_, way_, root_).end;
  return end > (lanes_->members->self() == rank_at(0) ? 1 : 0);
}

// The most that there is room for: who has more is told at the end.
void LaneRun::write_own() {
  if (lanes_->machine.step() != Step::write) return;
  const std::size_t room =
      way_.form == Form::meeting ? LaneMemory::meeting_bytes_max : LaneMemory::broadcast_bytes_max;
  write(*lanes_, mine_.data(), std::min(mine_.size(), room));
}

LaneRun::State LaneRun::advance(LaneTaker& taker) { return go_on(taker, false); }
LaneRun::State LaneRun::advance_at_head(LaneTaker& taker) { return go_on(taker, true); }

// False: somebody has not written yet.
bool LaneRun::look_on(bool is_at_head) {
  while (lanes_->machine.step() == Step::look) {
    if (look(*lanes_, way_.bytes) == LaneWord::full) [[likely]]
      lanes_->machine.handle_look(LaneWord::full, false);
    else if (is_at_head || !look_with_engine())
      return false;
  }
  return true;
}

bool LaneRun::look_with_engine() {
  const Rank member = lanes_->machine.awaited();
  look_once(*lanes_, *communicator_.session, way_.bytes);
  return lanes_->machine.step() != Step::look || lanes_->machine.awaited() != member;
}

LaneRun::State LaneRun::go_on(LaneTaker& taker, bool is_at_head) {
  protocols::Lanes& machine = lanes_->machine;
  if (!is_taken_) {
    if (!look_on(is_at_head)) return State::goes_on;
    if (machine.is_over() && !lanes_->is_passed_by) return State::over;
    take(taker);
    end_operation();
  }
  while (machine.step() != Step::none && machine.step() != Step::over) {
    if (machine.step() == Step::write && !write(*lanes_, nullptr, 0)) break;
    if (!look_on(is_at_head)) return State::goes_on;
    if (machine.step() == Step::read) machine.poll_read();
  }
  return State::done;
}

void LaneRun::take(LaneTaker& taker) {
  if (lanes_->machine.is_over()) {
    communicator_.session->standstill.revoke_if_passed();
    code_ = MPI_ERR_TRUNCATE;
  } else if (way_.form == Form::broadcast) {
    take_broadcast(taker);
  } else if (way_.form == Form::meeting) {
    take_meeting(taker);
  } else {
    take_given(taker);
  }
}

void LaneRun::take_broadcast(LaneTaker& taker) {
  if (root_ == lanes_->members->self()) {
    const Brought own{way_.root, mine_};
    code_ = mine_.size() == way_.bytes ? taker.take({&own, 1}) : MPI_ERR_TRUNCATE;
    return;
  }
  const LaneSlot slot = lanes_->machine.poll_read();
  const int root = index(root_);
  const bool is_here = lanes_->slots.look(root, slot, way_.bytes) == LaneWord::full;
  const std::size_t where = is_here ? way_.bytes : elsewhere(way_.bytes);
  const Brought all{
      way_.root,
      {lanes_->slots.payload(root, slot, where), lanes_->slots.bytes_of(root, slot, where)}};
  code_ = taker.take({&all, 1});
}

void LaneRun::take_meeting(LaneTaker& taker) {
  const LaneSlot slot = lanes_->machine.poll_read();
  AllBrought all;
  for (int i = 0; i < lanes_->slots.size(); ++i)
    all.add(lanes_->members->comm_rank(rank_at(i)),
            {lanes_->slots.payload(i, slot, 0), lanes_->slots.bytes_of(i, slot, 0)});
  code_ = taker.take(all.view());
  if (mine_.size() > LaneMemory::meeting_bytes_max) code_ = MPI_ERR_TRUNCATE;
}

void LaneRun::take_given(LaneTaker& taker) {
  const Share share = share_of(*lanes_, way_, root_);
  Given given;
  given.bytes = way_.bytes;
  if (reads())
    shim::take_given(*lanes_, lanes_->machine.poll_read(), share.end, mine_.data(), given);
  else if (share.end != 0)
    shim::take_given(*lanes_, {}, share.end, mine_.data(), given);
  AllBrought all;
  for (int place = 0; place < given.count; ++place) {
    const Rank member = rank_at(given.members[static_cast<std::size_t>(place)]);
    all.add(lanes_->members->comm_rank(member), given.of(place));
  }
  const bool is_right = given.fits && mine_.size() == way_.bytes;
  code_ = is_right && share.end != 0 ? taker.take(all.view()) : MPI_SUCCESS;
  if (!is_right) code_ = MPI_ERR_TRUNCATE;
  outcome_ = outcome_of(*lanes_, given);
}

// As of the calls that wait: what is asked about the last one of the communicator.
void LaneRun::end_operation() {
  is_taken_ = true;
  if (!is_last_) return;
  note_last(communicator_, way_.form == Form::broadcast ? way_.root : -1);
  for (const int world_rank : outcome_.lost)
    lanes_->missing.in_last |= std::uint64_t{1}
                               << index(lanes_->members->index_of_world_rank(world_rank));
}

}  // namespace resprout::shim
