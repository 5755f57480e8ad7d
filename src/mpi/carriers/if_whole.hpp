// What the MPI library makes of a communicator for all its members, and cannot make after a loss.
// Of one that has lost a member it would wait for ever, or fail at some members only; there all
// members get the same error. Of a derived communicator it does not know who is in it.
//
// All members agree on that in a barrier of ours, so that none of them enters MPI without the
// others. Somebody may still be lost while MPI is at it. Nobody enters it with a communicator that
// is revoked: Open MPI 5.0 does not live through that.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/collectives.hpp"

namespace resprout::shim {

// `name`: the lower-case MPI name; `native`: MPI's own call; `otherwise`: what the call returns if
// something else is done. All members are here.
template <typename Native, typename Otherwise>
int if_whole(MPI_Comm comm, const char* name, Native native, Otherwise otherwise) {
  CollectiveCall call(comm, name);
  if (!call.is_ours()) {
    const bool is_valid = World::current() != nullptr && comm != MPI_COMM_NULL;
    if (is_valid && is_revoked(comm)) return finish(comm, name, ulfm::revoked_class());
    return call.leave_to(native);
  }
  const runtime::Outcome outcome = runtime::barrier(call.session(), call.lock());
  if (call.session().is_revoked()) return call.finish(outcome);
  if (const std::optional<int> code = otherwise(call)) return *code;
  if (!call.is_whole()) return call.finish(outcome, proc_failed());
  if (call.communicator().derived) return call.leave_to([&] { return refuse_derived(comm, name); });
  // Who has seen a loss in the barrier must do as all others do.
  return call.leave_to(native);
}

template <typename Native>
int if_whole(MPI_Comm comm, const char* name, Native native) {
  return if_whole(comm, name, native, [](CollectiveCall&) -> std::optional<int> { return {}; });
}

}  // namespace resprout::shim
