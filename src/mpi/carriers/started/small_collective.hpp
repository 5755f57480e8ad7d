// A started collective of few bytes: shared slots carry it (carriers/shared_slots/run.hpp). Each
// member writes what it gives when it starts it, and what the others have written is looked at then
// or later. What a loss ends there, or shared slots do not carry, goes on as any other collective.
//
// At the head of a call, with no member lost and nothing under way on the communicator, it takes no
// lock; where all others have written what it needs it is over before the call returns.
// Thread rule: as of Collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mpi/carriers/shared_slots/run.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/handles/communicators/communicator.hpp"

namespace resprout::shim {

class SmallCollective : public Collective, protected SlotTaker {
 public:
  // At the head of its call (crossing.hpp): shared slots carry it.
  bool is_carried() { return run_.is_carried(); }
  // It begins there, and is over, and all is well; else it has to be given to its session.
  // REQUIRES: is_carried().
  bool is_over_at_head();
  // The same of one start of a persistent request, under the engine's lock. REQUIRES: its session
  // has no tasks.
  bool is_over_at_start();

  // Another one was called on the communicator since. Under the engine's lock.
  void note_later_call() { run_.note_later_call(); }

  bool advance() final;
  bool is_for_program() const final;
  bool looks_at_shared_slots() const final { return run_.has_begun() && !is_left_by_shared_slots_; }

 protected:
  // `carrying`: as of MakeCollective (under_way.hpp); it is there until the collective is over.
  SmallCollective(Communicator& carrying, const SlotWay& way)
      : Collective(*carrying.session), communicator_(carrying), run_(carrying, way) {}

  // What this member gives; it is there until the collective is over.
  virtual std::span<const std::byte> given() = 0;
  // The same collective, as it goes without shared slots. On a thread of the program.
  virtual std::shared_ptr<Collective> other() = 0;

 private:
  bool advance_other();
  void begin(runtime::Started&) final {}
  void take(std::span<const std::byte>) final {}
  int code() const final { return run_.code(); }

  Communicator& communicator_;
  SlotRun run_;
  bool is_left_by_shared_slots_ = false;
  std::shared_ptr<Collective> other_;
};

// `Arguments` say what the call is:
//   bool are_valid(session)          MPI itself would accept them
//   SlotWay way(session)             how it goes over shared slots
//   bytes given(session, storage)    what this member gives, in `storage` if need be
//   int take(session, all)           as of SlotTaker
//   Collective make(comm, session)   the same without shared slots
//   bool is_for_program(session)     taking it needs MPI
//   bool use(datatype)
// With valid ones all else may be asked.
template <typename Arguments>
class SmallCollectiveOf final : public SmallCollective {
 public:
  SmallCollectiveOf(MPI_Comm comm, Communicator& carrying, const Arguments& arguments)
      : SmallCollective(carrying, arguments.way(*carrying.session)),
        comm_(comm),
        arguments_(arguments),
        given_(arguments_.given(session(), storage_)) {
    if (arguments_.is_for_program(session())) leave_mpi_to_program();
  }

  bool uses(MPI_Datatype datatype) const override { return arguments_.use(datatype); }

 private:
  std::span<const std::byte> given() override { return given_; }
  int take_brought(std::span<const Brought> all) override {
    return arguments_.take(session(), all);
  }
  std::shared_ptr<Collective> other() override { return arguments_.make(comm_, session()); }

  const MPI_Comm comm_;
  const Arguments arguments_;
  std::vector<std::byte> storage_;
  const std::span<const std::byte> given_;
};

}  // namespace resprout::shim
