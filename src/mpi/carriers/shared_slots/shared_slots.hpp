// Small collectives over shared slots: where all members share memory and are few. What is written,
// looked at and concluded is what the machine says (protocols/shared_slots); this moves its
// payloads and waits.
//
// They carry all calls that they can, until one is over that a loss fell into. Such a call is run
// again by another carrier, the same one at all members, and these shared slots are never used
// again. Once all have agreed who is left, those have new ones, under another name.
//
// Two ways in. `maybe_..._by_shared_slots` stand at the head of a wrapper: with no member lost, and
// of this communicator nothing revoked and nothing under way, they take no lock and allocate
// nothing. What they do not take comes to `..._by_shared_slots` in a call that is set up as any
// other.
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/shared_slots/communicator_slots.hpp"

namespace resprout::shim {

enum class Taken {
  no,    // nothing has happened
  done,  // the call may return
  over,  // it is counted, and has to be run by somebody else
};
inline CollectiveCall::Entry entry_after(Taken taken) {
  return taken == Taken::over ? CollectiveCall::Entry::again : CollectiveCall::Entry::first;
}
// `code`: what the call returns once it is done, if that is no success.
Taken maybe_broadcast_by_shared_slots(void* buffer, int count, MPI_Datatype datatype, int root,
                                      MPI_Comm comm, int& code);
Taken maybe_allreduce_by_shared_slots(const void* sendbuf, void* recvbuf, int count,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, int& code);
Taken maybe_barrier_by_shared_slots(MPI_Comm comm, int& code);
// A broadcast of what all ranks get. REQUIRES: the arguments are valid as far as they are the
// call's.
Taken maybe_scatter_by_shared_slots(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                    MPI_Comm comm, int& code);

// The same answer at all members, who open them for it. REQUIRES: call.is_ours().
bool goes_by_shared_slots(CollectiveCall& call, Kind kind, std::size_t bytes,
                          MPI_Op op = MPI_OP_NULL);
// False: it is over. `code`: as above. REQUIRES: goes_by_shared_slots.
bool broadcast_by_shared_slots(CollectiveCall& call, void* buffer, const Layout& layout, int root,
                               int& code);
bool allreduce_by_shared_slots(CollectiveCall& call, const void* input, void* recvbuf,
                               const Layout& layout, MPI_Op op, int& code);
bool barrier_by_shared_slots(CollectiveCall& call);
// Of these two: what the call finishes with, which some may have missed.
runtime::Outcome outcome_of_last(CommunicatorSlots& shared_slots);

// What a member has brought to a rendezvous: there until this process has been in two more.
struct Brought {
  int rank;  // in the communicator
  std::span<const std::byte> data;
};
// All bring something, and get what each has brought, in the order of ranks, in `all`. What the
// call returns; nothing: the shared slots are over. REQUIRES: goes_by_shared_slots, for the most
// that any brings; of more than fits, by a mistake of the program, a part is brought.
std::optional<int> meet_by_shared_slots(CollectiveCall& call, std::span<const std::byte> mine,
                                        std::vector<Brought>& all);
inline runtime::Outcome delivered() {
  runtime::Outcome outcome;
  outcome.is_delivered = true;
  return outcome;
}

}  // namespace resprout::shim
