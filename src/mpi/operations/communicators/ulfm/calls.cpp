// ULFM's functions, as Open MPI's mpi-ext.h declares them (resprout.h for other MPIs), for any MPI:
// they speak of the losses that Resprout knows, and of the communicators that it has revoked.
//
// What has no session of ours (processes of other jobs, one process alone) is left to the MPI
// library, if that has ULFM. Inter-communicators of this job's processes have one over both groups.
#include <numeric>
#include <vector>

#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/both_groups.hpp"
#include "mpi/handles/communicators/common_name.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/failures.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/communicators/unwanted.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/cut_off.hpp"
#include "mpi/operations/communicators/between.hpp"
#include "mpi/operations/communicators/ulfm/agreement.hpp"
#include "mpi/operations/communicators/ulfm/shrink.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/refusal.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "resprout/resprout.h"
#include "runtime/engine.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

void revoke(MPI_Comm comm) {
  resprout::runtime::Engine& engine = World::current()->engine();
  resprout::runtime::Lock lock = engine.lock();
  if (resprout::runtime::Session* session = session_of_members(comm, lock)) {
    session->revoke();
    lock.unlock();
    // Where all members look for themselves, MPI is told by the next call, or from its progress.
    if (!do_members_look(*communicator_of(comm))) pass_on_revocations();
    return;
  }
  // One process, or processes that have nobody in common but MPI.
  note_revoked_alone(*communicator_of(comm));
  lock.unlock();
  if (!ulfm::is_active()) throw_away(comm);
  revoke_in_mpi(comm);
}

// One of these calls, from entry to return.
class Call {
 public:
  Call(MPI_Comm comm, const char* name)
      : comm_(comm), name_(name), world_(comm == MPI_COMM_NULL ? nullptr : World::current()) {
    if (world_ == nullptr) return;
    pass_on_revocations();
    entering(name);
    world_->report().count_call(name);
  }

  // False: outside of MPI_Init .. MPI_Finalize, or no communicator.
  bool is_valid() const { return world_ != nullptr; }
  bool has_session() const { return !communicator_of(comm_)->is_native; }
  bool is_alone() const {
    const Communicator* communicator = communicator_of(comm_);
    return !communicator->is_inter && communicator->world_ranks.size() == 1;
  }
  // REQUIRES: this thread has not locked the engine: the program's error handler may call MPI.
  int finish(int code) { return shim::finish(comm_, name_, code); }

 private:
  MPI_Comm comm_;
  const char* name_;
  World* world_;
};

// `ranks` of `comm`, or of its remote group.
int group_of_some(MPI_Comm comm, std::span<const int> ranks, MPI_Group* group) {
  MPI_Group everybody = MPI_GROUP_NULL;
  const int code = communicator_of(comm)->is_inter ? PMPI_Comm_remote_group(comm, &everybody)
                                                   : group_of(comm, &everybody);
  if (code != MPI_SUCCESS) return code;
  const int made = PMPI_Group_incl(everybody, static_cast<int>(ranks.size()), ranks.data(), group);
  PMPI_Group_free(&everybody);
  return made;
}

Opinion opinion_of(MPI_Comm comm, int flag) {
  return {flag, static_cast<int>(communicator_of(comm)->world_ranks.size()), acknowledged_in(comm)};
}

int agree(MPI_Comm comm, int* flag) {
  runtime::Lock lock = World::current()->engine().lock();
  runtime::Session& repair = *repair_session_of(comm, lock);
  repair.finish_tasks(lock);
  return shim::agree(repair, lock, opinion_of(comm, *flag), flag);
}

// Each group hears what the other one has said: there is an agreement for either, in which the
// others say nothing. A failure counts as known when all of the other group have acknowledged it:
// its own has no call for that.
int agree_between(MPI_Comm inter, int* flag) {
  runtime::Lock lock = World::current()->engine().lock();
  runtime::Session& repair = *repair_session_of(inter, lock);
  const BothGroups groups = both_groups_of(inter);
  const auto size = static_cast<int>(groups.own.size() + groups.other.size());
  const auto second = static_cast<int>(groups.first_size());
  std::vector<int> known(groups.own.size());
  std::iota(known.begin(), known.end(), groups.is_own_first() ? 0 : second);
  for (const int rank : acknowledged_in(inter))
    known.push_back(groups.is_own_first() ? second + rank : rank);
  int code = MPI_SUCCESS;
  int theirs = 0;
  for (const bool is_of_first : {true, false}) {
    constexpr int nothing = ~0;
    const bool is_of_own = is_of_first == groups.is_own_first();
    int said = is_of_own ? *flag : nothing;
    const int end = shim::agree(repair, lock, Opinion(said, size, known), &said);
    if (end != MPI_SUCCESS) code = end;
    if (!is_of_own) theirs = said;
  }
  *flag = theirs;
  return code;
}

}  // namespace

// What the MPI library does in the place of a call, if it has ULFM.
#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI
#  define RESPROUT_BY_LIBRARY(call) P##call
#else
#  define RESPROUT_BY_LIBRARY(call) MPI_ERR_COMM
#endif

extern "C" int MPIX_Comm_revoke(MPI_Comm comm) {
  Call call(comm, "comm_revoke");
  if (!call.is_valid()) return RESPROUT_BY_LIBRARY(MPIX_Comm_revoke(comm));
  if (World::current()->options().is_replicated())
    refuse_call("MPIX_Comm_revoke", "would end calls in one replica that end well in another",
                "and a program that runs in replicas sees no loss to call it for; run it without "
                "--replicas");
  revoke(comm);
  return MPI_SUCCESS;
}

extern "C" int MPIX_Comm_is_revoked(MPI_Comm comm, int* flag) {
  Call call(comm, "comm_is_revoked");
  if (!call.is_valid()) return RESPROUT_BY_LIBRARY(MPIX_Comm_is_revoked(comm, flag));
  *flag = is_revoked(comm) || ulfm::is_revoked(comm) ? 1 : 0;
  return MPI_SUCCESS;
}

extern "C" int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failedgrp) {
  Call call(comm, "comm_get_failed");
  if (!call.is_valid()) return RESPROUT_BY_LIBRARY(MPIX_Comm_get_failed(comm, failedgrp));
  return group_of_some(comm, failed_in(comm), failedgrp);
}

// `num_acked`: how many are acknowledged after it.
extern "C" int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked) {
  Call call(comm, "comm_ack_failed");
  if (!call.is_valid())
    return RESPROUT_BY_LIBRARY(MPIX_Comm_ack_failed(comm, num_to_ack, num_acked));
  acknowledge(comm, num_to_ack);
  *num_acked = static_cast<int>(acknowledged_in(comm).size());
  return MPI_SUCCESS;
}

extern "C" int MPIX_Comm_failure_ack(MPI_Comm comm) {
  Call call(comm, "comm_failure_ack");
  if (!call.is_valid()) return RESPROUT_BY_LIBRARY(MPIX_Comm_failure_ack(comm));
  acknowledge(comm, static_cast<int>(failed_in(comm).size()));
  return MPI_SUCCESS;
}

extern "C" int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failedgrp) {
  Call call(comm, "comm_failure_get_acked");
  if (!call.is_valid()) return RESPROUT_BY_LIBRARY(MPIX_Comm_failure_get_acked(comm, failedgrp));
  return group_of_some(comm, acknowledged_in(comm), failedgrp);
}

extern "C" int MPIX_Comm_agree(MPI_Comm comm, int* flag) {
  Call call(comm, "comm_agree");
  if (!call.is_valid()) return RESPROUT_BY_LIBRARY(MPIX_Comm_agree(comm, flag));
  if (call.is_alone()) return MPI_SUCCESS;
  if (has_both_groups(comm)) return call.finish(agree_between(comm, flag));
  if (!call.has_session()) return ulfm::agree(comm, flag);
  return call.finish(agree(comm, flag));
}

// That of an inter-communicator is over when it returns: the MPI library has none.
extern "C" int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) {
  if (has_both_groups(comm)) {
    const int code = MPIX_Comm_agree(comm, flag);
    return code == MPI_SUCCESS ? PMPI_Ibarrier(MPI_COMM_SELF, request) : code;
  }
  if (World::current() != nullptr && comm != MPI_COMM_NULL) {
    runtime::Lock lock = World::current()->engine().lock();
    repair_session_of(comm, lock);
  }
  const auto make = [=](MPI_Comm on, Communicator&) -> std::shared_ptr<Collective> {
    return make_agreement(*communicator_of(on)->repair, opinion_of(on, *flag), flag);
  };
  return start_collective(comm, "comm_iagree", request, {make},
                          [&] { return ulfm::iagree(comm, flag, request); });
}

extern "C" int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) {
  Call call(comm, "comm_shrink");
  if (!call.is_valid()) return RESPROUT_BY_LIBRARY(MPIX_Comm_shrink(comm, newcomm));
  if (newcomm == nullptr) return call.finish(MPI_ERR_ARG);
  if (has_both_groups(comm)) return shrink_between(comm, newcomm);
  if (call.has_session()) return call.finish(shrink(comm, newcomm));
  if (call.is_alone()) return PMPI_Comm_dup(MPI_COMM_SELF, newcomm);
  *newcomm = ulfm::shrink(comm);
  return call.finish(*newcomm == MPI_COMM_NULL ? proc_failed() : open_by_common_name(*newcomm));
}
