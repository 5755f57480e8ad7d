#include "mpi/operations/communicators/group_making.hpp"

#include <cstddef>

#include "mpi/carriers/anybody.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/operations/communicators/derived_making.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {

int make_of_group(const GroupMaking& making, MPI_Comm* made) {
  runtime::Engine& engine = World::current()->engine();
  runtime::Lock lock = engine.lock();
  runtime::Session& session = engine.open_session(lock, making.key, making.world_ranks);
  if (making.parent != nullptr) making.parent->bind(session);
  RollCall roll(session, 0);
  roll.say(lock);
  const bool is_whole = session.is_whole();
  bool is_for_mpi =
      !session.is_revoked() && is_whole && roll.is_peaceful() && making.is_known_to_mpi;
  int code = MPI_SUCCESS;
  std::byte ended{0};  // others may have it nevertheless: then nobody uses it
  if (is_for_mpi) {
    lock.unlock();
    {
      const QuietMaking quiet;
      code = making.native(made);
    }
    const std::byte here = end_of_making(code);
    lock.lock();
    ended = what_anybody_says(session, lock, here);
    is_for_mpi = ended == std::byte{0};
    if (ended == making_met_loss) note_broken_making();
  }
  const bool has_run_out = (ended & making_ran_out) != std::byte{0};
  if (!is_for_mpi && !has_run_out) roll.find_carrier(lock);
  const std::uint64_t child = session.next_child();
  const bool is_over = session.is_revoked();
  if (making.parent != nullptr) making.parent->release(session);
  engine.close_session(lock, session);
  if (is_over) return ulfm::revoked_class();
  if (has_run_out) return code_without_numbers(making.like, code);
  if (is_for_mpi) {
    if (code == MPI_SUCCESS) open_communicator(*made, child, lock);
    return code;
  }
  const bool is_told =
      World::current()->options().on_loss == OnLoss::error && !call_policy().stands_in();
  if (!is_whole && is_told) return proc_failed();
  return make_derived(making.world_ranks, roll, child, making.like, made, lock);
}

}  // namespace resprout::shim
