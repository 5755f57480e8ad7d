#include "mpi/carriers/shared_slots/run.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "mpi/carriers/shared_slots/contributions.hpp"
#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/carriers/shared_slots/gathers.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

using protocols::SharedSlot;
using protocols::SlotWord;
using runtime::SlotMemory;
using Form = SlotWay::Form;
using Step = protocols::SharedSlots::Step;

// What all members have given, without an allocation.
class AllBrought {
 public:
  void add(int rank, std::span<const std::byte> data) {
    std::construct_at(begin() + count_++, Brought{rank, data});
  }
  std::span<const Brought> view() { return {begin(), count_}; }

 private:
  Brought* begin() { return reinterpret_cast<Brought*>(memory_.data()); }

  // Touched as far as it is used.
  static constexpr std::size_t bytes_max = runtime::SlotPool::members_max * sizeof(Brought);
  alignas(Brought) std::array<std::byte, bytes_max> memory_;
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

Share share_of(const CommunicatorSlots& shared_slots, const SlotWay& way, Rank root) {
  return way.form == Form::prefix ? share_of_prefix(shared_slots, way.is_inclusive)
                                  : share_to(shared_slots, root);
}

}  // namespace

bool fits_shared_slots(const SlotWay& way, int members) {
  if (combines(way.kind) && !is_predefined(way.op)) return false;
  if (way.kind == Kind::barrier) return true;
  if (way.form == Form::broadcast)
    return way.bytes > 0 && way.bytes <= SlotMemory::broadcast_bytes_max;
  return can_be_contribution(way.bytes, members, false);
}

bool SlotRun::is_carried() {
  if (!open_shared_slots(communicator_, way_.kind)) return false;
  const CommunicatorSlots& shared_slots = *communicator_.shared_slots;
  root_ = way_.root >= 0 ? shared_slots.member(way_.root) : no_rank;
  const bool needs_root = way_.form == Form::broadcast || way_.kind == Kind::scatter;
  if (needs_root && root_ == no_rank) return false;
  return fits_shared_slots(way_, shared_slots.slots.size());
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
  alignas(64) std::array<std::array<std::byte, SlotMemory::rendezvous_bytes_max>, 2> sums;
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

// A gather that shared slots do not carry yet is a rendezvous.
void SlotRun::begin(std::span<const std::byte> mine) {
  shared_slots_ = communicator_.shared_slots;
  CommunicatorSlots& shared_slots = *shared_slots_;
  const bool has_no_root = way_.form == Form::to_root && root_ == no_rank;
  if (is_gather(way_.form) && (!can_gather(shared_slots, way_.bytes) || has_no_root))
    way_.form = Form::rendezvous;
  mine_ = mine;
  protocols::SharedSlots& machine = shared_slots.machine;
  shared_slots.missing.seen_ns = 0;
  if (way_.form == Form::broadcast) {
    machine.start_broadcast(root_, has_to_leave(shared_slots));
  } else if (way_.form == Form::rendezvous) {
    machine.start_rendezvous(has_to_leave(shared_slots));
  } else {
    const Share share = share_of(shared_slots, way_, root_);
    machine.start_gather(rank_at(0), rank_at(share.end), share.gives);
    if (!share.gives && !reads()) return;
  }
  write_own();
}

// Of a gather: others give something that this member wants.
bool SlotRun::reads() const {
  const int end = share_of(*shared_slots_, way_, root_).end;
  return end > (shared_slots_->members->self() == rank_at(0) ? 1 : 0);
}

// The most that there is room for: who has more is told at the end.
void SlotRun::write_own() {
  if (shared_slots_->machine.step() != Step::write) return;
  const std::size_t room = way_.form == Form::rendezvous ? SlotMemory::rendezvous_bytes_max
                                                         : SlotMemory::broadcast_bytes_max;
  write(*shared_slots_, mine_.data(), std::min(mine_.size(), room));
}

SlotRun::State SlotRun::advance(SlotTaker& taker) { return go_on(taker, false); }
SlotRun::State SlotRun::advance_at_head(SlotTaker& taker) { return go_on(taker, true); }

// False: somebody has not written yet.
bool SlotRun::look_on(bool is_at_head) {
  protocols::SharedSlots& machine = shared_slots_->machine;
  while (machine.step() == Step::look || machine.is_recording()) {
    if (machine.is_recording())
      write_record(*shared_slots_, nullptr);
    else if (maybe_take_record(*shared_slots_))
      continue;
    else if (look(*shared_slots_, way_.bytes) == SlotWord::full) [[likely]]
      machine.handle_look(SlotWord::full, false);
    else if (is_at_head || !look_with_engine())
      return false;
  }
  return true;
}

bool SlotRun::look_with_engine() {
  const Rank member = shared_slots_->machine.awaited();
  look_once(*shared_slots_, *communicator_.session, way_.bytes);
  return shared_slots_->machine.step() != Step::look || shared_slots_->machine.awaited() != member;
}

SlotRun::State SlotRun::go_on(SlotTaker& taker, bool is_at_head) {
  protocols::SharedSlots& machine = shared_slots_->machine;
  if (!is_taken_) {
    if (!look_on(is_at_head)) return State::goes_on;
    if (machine.is_over() && !shared_slots_->is_passed_by) return State::over;
    take(taker);
    end_operation();
  }
  while (machine.step() != Step::none && machine.step() != Step::over) {
    if (machine.step() == Step::write && !write(*shared_slots_, nullptr, 0)) break;
    if (!look_on(is_at_head)) return State::goes_on;
    if (machine.step() == Step::read) machine.poll_read();
  }
  return code_ == for_another_carrier ? State::over : State::done;
}

void SlotRun::take(SlotTaker& taker) {
  if (shared_slots_->machine.is_over()) {
    communicator_.session->standstill.revoke_if_passed();
    code_ = MPI_ERR_TRUNCATE;
  } else if (way_.form == Form::broadcast) {
    take_broadcast(taker);
  } else if (way_.form == Form::rendezvous) {
    take_rendezvous(taker);
  } else {
    take_given(taker);
  }
}

void SlotRun::take_broadcast(SlotTaker& taker) {
  if (root_ == shared_slots_->members->self()) {
    const Brought own{way_.root, mine_};
    const bool is_right = way_.is_uneven || mine_.size() == way_.bytes;
    code_ = is_right ? taker.take_brought({&own, 1}) : MPI_ERR_TRUNCATE;
    return;
  }
  const SharedSlot slot = shared_slots_->machine.poll_read();
  const int root = index(root_);
  const bool is_here = shared_slots_->slots.look(root, slot, way_.bytes) == SlotWord::full;
  const std::size_t where = is_here ? way_.bytes : elsewhere(way_.bytes);
  const Brought all{way_.root,
                    {shared_slots_->slots.payload(root, slot, where),
                     shared_slots_->slots.bytes_of(root, slot, where)}};
  code_ = taker.take_brought({&all, 1});
}

void SlotRun::take_rendezvous(SlotTaker& taker) {
  const SharedSlot slot = shared_slots_->machine.poll_read();
  know_areas(*shared_slots_, 0, shared_slots_->slots.size());
  AllBrought all;
  for (int i = 0; i < shared_slots_->slots.size(); ++i)
    all.add(shared_slots_->members->comm_rank(rank_at(i)),
            {shared_slots_->slots.payload(i, slot, 0), shared_slots_->slots.bytes_of(i, slot, 0)});
  code_ = taker.take_brought(all.view());
  if (mine_.size() > SlotMemory::rendezvous_bytes_max) code_ = MPI_ERR_TRUNCATE;
}

void SlotRun::take_given(SlotTaker& taker) {
  const Share share = share_of(*shared_slots_, way_, root_);
  Given given;
  given.bytes = way_.bytes;
  if (reads())
    shim::take_given(*shared_slots_, shared_slots_->machine.poll_read(), 0, share.end, mine_.data(),
                     given);
  else if (share.end != 0)
    shim::take_given(*shared_slots_, {}, 0, share.end, mine_.data(), given);
  AllBrought all;
  for (int place = 0; place < given.count; ++place) {
    const Rank member = rank_at(given.members[static_cast<std::size_t>(place)]);
    all.add(shared_slots_->members->comm_rank(member), given.of(place));
  }
  const bool is_right = given.fits && mine_.size() == way_.bytes;
  code_ = is_right && share.end != 0 ? taker.take_brought(all.view()) : MPI_SUCCESS;
  if (!is_right) code_ = MPI_ERR_TRUNCATE;
  outcome_ = outcome_of(*shared_slots_, given.missing);
}

// As of the calls that wait: what is asked about the last one of the communicator.
void SlotRun::end_operation() {
  is_taken_ = true;
  if (!is_last_) return;
  const bool is_of_root = way_.form == Form::broadcast || way_.kind == Kind::scatter;
  note_last(communicator_, is_of_root ? way_.root : -1);
  for (const int world_rank : outcome_.lost)
    shared_slots_->missing.in_last.set(
        static_cast<std::size_t>(index(shared_slots_->members->index_of_world_rank(world_rank))));
}

void SlotRun::note_contributors() const {
  std::vector<Rank> missing;
  for (const int world_rank : outcome_.lost)
    missing.push_back(shared_slots_->members->index_of_world_rank(world_rank));
  communicator_.session->contributors().set(shared_slots_->members, missing,
                                            way_.form == Form::broadcast ? root_ : no_rank);
}

}  // namespace resprout::shim
