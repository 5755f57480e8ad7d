// Which communicators of the program are revoked, and telling MPI so.
//
// A session is revoked by a notice that any thread may find (runtime/session_revoke.cpp). What
// waits in a collective of ours ends with it. What waits inside MPI ends when MPI itself revokes
// the communicator, which is done by the next thread of the program that looks: before it goes into
// the library, or from MPI's own progress (openmpi/progress_hook.hpp), where it also looks at the
// board of its host, and at its bell, which rings when a notice was put there or sent. Where all
// members do so, MPI is told in this process alone. An MPI without ULFM revokes nothing; there no
// call waits inside MPI.
//
// Thread rule: `open_revocations` once; `note_session` and `forget_session` under the engine's
// lock; the rest without it, from any thread of the program.
#pragma once

#include <mpi.h>

#include <atomic>

#include "mpi/handles/communicators/unwanted.hpp"

namespace resprout::runtime {
class Engine;
class Session;
}  // namespace resprout::runtime

namespace resprout::shim {

struct Communicator;

// In MPI_Init, before the first session.
void open_revocations(runtime::Engine& engine);
// In MPI_Finalize.
void close_revocations();

void note_session(MPI_Comm comm, const runtime::Session& session);
void forget_session(const runtime::Session& session);

// For MPI, too, which hears of most deaths by itself, some 40 ms after them, but not of all, and
// never of those who were cut off, and live. Safe from any thread.
void report_failure_to_mpi(int world_rank, bool is_dead);

namespace detail {
extern std::atomic<int> revoked_count;
extern std::atomic<bool> has_untold;
bool is_revoked(MPI_Comm comm);
void pass_on_revocations();
}  // namespace detail

// Some communicator was revoked: a load, to see that nothing has happened.
inline bool is_any_revoked() { return detail::revoked_count.load(std::memory_order_acquire) != 0; }
inline bool is_revoked(MPI_Comm comm) { return is_any_revoked() && detail::is_revoked(comm); }

// Reads what stands on the host's board, though nobody else did yet: loads, if it is nothing.
void look_for_revocations();

// Tells MPI what is new: also of those who have failed and live. What comes on revoked
// communicators of which it knows nothing is taken (unwanted.hpp).
inline void pass_on_revocations() {
  take_unwanted();
  if (detail::has_untold.load(std::memory_order_relaxed)) [[unlikely]]
    detail::pass_on_revocations();
}

// Whether all members are on one host. Then they ring one bell, and a member that waits in MPI
// looks at it. Members on other hosts look now and then only, and MPI tells them sooner. REQUIRES:
// it has a session.
bool do_members_look(const Communicator& communicator);
// It has no session. Under the engine's lock.
void note_revoked_alone(Communicator& communicator);

}  // namespace resprout::shim
