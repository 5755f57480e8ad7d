#include "mpi/policies/checkpoints/checkpoints.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "core/invariant.hpp"
#include "mpi/policies/checkpoints/handover.hpp"
#include "mpi/policies/checkpoints/wait_note.hpp"
#include "mpi/policies/replicas/compared_requests.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/report/position.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

using runtime::MessageName;
using runtime::Stream;

// A fault that comes again and again is not one that going back helps against.
constexpr int attempts_max = 10;

}  // namespace

int Checkpoints::take(Regions& regions) {
  if (!setup_.verifies) {
    take_only_in(regions);
    return MPI_SUCCESS;
  }
  if (comm_ == MPI_COMM_NULL) PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  settle_decisions();
  if (muted_) arrive();
  settle();
  Sight sight = look(regions);
  if (sight.is_busy && !sight.is_tainted) return MPI_ERR_PENDING;
  if (setup_.returns.comes_back()) {
    come_back(regions);
    return MPI_SUCCESS;
  }
  if (!sight.is_tainted) sight = look(regions, !is_right(regions));
  if (sight.is_tainted) {
    const char* why = why_not(sight);
    if (why == nullptr) {
      go_back(regions);
      return MPI_SUCCESS;
    }
    give_up(sight, why);
  }
  setup_.findings.note_newcomer(-1);
  if (const auto found = setup_.returns.due()) take_in(*found, regions);
  keep(regions);
  return MPI_SUCCESS;
}

void Checkpoints::take_only_in(Regions& regions) {
  if (setup_.returns.comes_back()) return come_back(regions);
  if (const auto found = setup_.returns.due()) take_in(*found, regions);
  count();
}

// Of who waits long the launcher hears: the plane that is waited for may have gone astray.
void Checkpoints::settle() {
  WaitNote note(setup_.run_directory, setup_.rank);
  setup_.peer_planes.verifier.settle([&] {
    setup_.meanwhile();
    note.look();
  });
}

// Sums over this plane, so all its ranks do the same.
Checkpoints::Sight Checkpoints::look(const Regions& regions, bool is_own_wrong) {
  enum { tainted, doomed, busy, on_the_way, unprotected, wildcards, size };
  std::array<std::int64_t, size> sums{};
  is_own_wrong_ = is_own_wrong;
  sums[tainted] = is_own_wrong || setup_.findings.is_tainted();
  sums[doomed] = is_own_wrong || setup_.findings.is_doomed();
  sums[unprotected] = !regions.has_all_of(kept_);
  // What these take is announced when it comes, and not recorded with what the program asks for.
  sums[wildcards] = setup_.receives.wildcards_started() != kept_wildcards_;
  sums[busy] =
      !setup_.messages.is_idle() || !setup_.receives.is_idle() || is_any_compared_under_way();
  if (sums[busy] == 0) {
    const Messages::Counts counts = setup_.messages.counts();
    sums[on_the_way] =
        static_cast<std::int64_t>(counts.sent.total() - runtime::total_of(counts.received));
  }
  PMPI_Allreduce(MPI_IN_PLACE, sums.data(), size, MPI_INT64_T, MPI_SUM, comm_);
  return {.is_tainted = sums[tainted] != 0,
          .is_busy = sums[busy] != 0 || sums[on_the_way] != 0,
          .can_restore = sums[unprotected] == 0,
          .can_repeat = sums[wildcards] == 0,
          .is_doomed = sums[doomed] != 0};
}

// What is protected is compared once at each place. Who was wrong there knows from the others what
// is right, and who was right has to be the same again. If nobody can tell, all have gone back, and
// compare again.
bool Checkpoints::is_right(const Regions& regions) {
  const std::uint64_t digest = regions.digest();
  if (right_) return digest == *right_;
  MessageName name{{*name_of(MPI_COMM_WORLD), setup_.rank, setup_.rank, 0, Stream::Of::checkpoints},
                   0};
  {
    const runtime::MutexLock lock(mutex_);
    found_.reset();
    name.number = ++compared_;
  }
  setup_.peer_planes.verifier.compare({name, "resprout_checkpoint", regions.bytes(), nullptr},
                                      digest, false);
  settle();
  const runtime::MutexLock lock(mutex_);
  right_ = found_ ? found_->digest : digest;
  return !right_ || digest == *right_;
}

void Checkpoints::note(const runtime::Finding& finding) {
  if (finding.name.stream.of != Stream::Of::checkpoints) return;
  const runtime::MutexLock lock(mutex_);
  if (finding.name.number == compared_) found_ = finding;
}

void Checkpoints::count() {
  if (++figures_.taken == 1) setup_.returns.say_that_there_are_checkpoints();
  note_checkpoint(figures_.taken);
}

void Checkpoints::keep(const Regions& regions) {
  count();
  kept_ = regions.copy();
  kept_at_ = place();
  kept_writes_ = write_sums();
  kept_wildcards_ = setup_.receives.wildcards_started();
  attempts_ = 0;
  right_.reset();
  setup_.peer_planes.decisions.restart_record();
  setup_.findings.allow_going_back(true);
}

// --- a plane that was lost
// --------------------------------------------------------------------------

void Checkpoints::take_in(const runtime::Return& found, const Regions& regions) {
  setup_.returns.take_in(found, hand_over({figures_.taken, named_children()}, regions));
  begin_anew(found.plane);
}

void Checkpoints::come_back(Regions& regions) {
  const auto state = setup_.returns.wait();
  if (!state) end_process("the others cannot say what was kept there");
  const auto given = take_over(*state, regions);
  if (!given) end_process("it protects something else than the others");
  set_named_children(given->communicators);
  figures_.taken = given->checkpoints;
  begin_anew(setup_.replica);
  setup_.returns.join(figures_.taken + 1);
  if (setup_.verifies)
    keep(regions);
  else
    count();
}

// Messages, collectives and what was compared are numbered from 1 again.
void Checkpoints::begin_anew(int newcomer) {
  forget_write_sums();
  setup_.findings.note_newcomer(newcomer);
  const runtime::MutexLock lock(mutex_);
  compared_ = 0;
  found_.reset();
}

// --- going back
// -------------------------------------------------------------------------------------

const char* Checkpoints::why_not(const Sight& sight) {
  RESPROUT_INVARIANT(figures_.taken > 0);  // before the first one nobody is allowed to
  if (sight.is_busy) return "messages are on the way";
  if (!sight.can_restore) return "what it has kept is no longer protected";
  if (!sight.can_repeat) return "MPI_Irecv from MPI_ANY_SOURCE was called since";
  if (++attempts_ > attempts_max) return "it was wrong again and again";
  return nullptr;
}

void Checkpoints::go_back(Regions& regions) {
  ++figures_.returns;
  was_at_ = place();
  regions.restore(kept_);
  set_place(kept_at_);
  set_write_sums(kept_writes_);
  setup_.findings.forgive();
  setup_.peer_planes.verifier.repeat();
  setup_.peer_planes.lag.repeat(true);
  setup_.peer_planes.decisions.repeat();
  muted_ = std::make_unique<Muted>();
  note_checkpoint(figures_.taken);
}

// At the checkpoint that it has gone back from.
void Checkpoints::arrive() {
  muted_.reset();
  if (!setup_.messages.is_idle() || !setup_.receives.is_idle() || place() != was_at_)
    end_process("it has not come to where it was");
  setup_.peer_planes.verifier.stop_repeating();
  setup_.peer_planes.lag.repeat(false);
  if (Decided* by = decided.load(std::memory_order_acquire)) by->stop_repeating();
}

void Checkpoints::finish() {
  if (muted_) end_process("it ends before it has come to where it was");
  setup_.findings.allow_going_back(false);
  setup_.findings.give_up();
}

// All ranks do. Returns if they go on all the same. Else who has found what was wrong says so, and
// ends; the launcher ends the others.
void Checkpoints::give_up(const Sight& sight, const char* why) {
  if (!sight.is_doomed) return setup_.findings.give_up();
  if (is_own_wrong_ || setup_.findings.is_doomed()) end_process(why);
  for (;;) pause();
}

// The launcher ends its plane.
void Checkpoints::end_process(const char* why) {
  muted_.reset();
  std::fprintf(stderr, "resprout: rank %d of this plane cannot go back to its checkpoint: %s\n",
               setup_.rank, why);
  setup_.findings.give_up();
  for (;;) kill(getpid(), SIGKILL);
}

Checkpoints::Place Checkpoints::place() {
  return {setup_.messages.counts(), setup_.comparing.numbers(), named_children()};
}

void Checkpoints::set_place(const Place& place) {
  setup_.messages.set_counts(place.messages);
  setup_.comparing.set_numbers(place.collectives);
  set_named_children(place.communicators);
}

}  // namespace resprout::shim
