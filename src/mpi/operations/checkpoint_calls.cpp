// resprout_protect, resprout_checkpoint: what a program goes back to.
#include "resprout/resprout.h"

#include <cstdio>

#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/policies/checkpoints/checkpoints.hpp"
#include "mpi/policies/checkpoints/lasting_checkpoints.hpp"
#include "mpi/policies/chosen/verification.hpp"
#include "mpi/policies/inject/flips.hpp"
#include "mpi/policies/regions.hpp"
#include "mpi/process/report/position.hpp"
#include "mpi/process/world.hpp"

using namespace resprout::shim;

extern "C" int resprout_protect(void* begin, size_t bytes) {
  if (begin == nullptr && bytes > 0)
    return finish(MPI_COMM_WORLD, "resprout_protect", MPI_ERR_BUFFER);
  protected_regions().protect(begin, bytes);
  return MPI_SUCCESS;
}

extern "C" int resprout_checkpoint(void) {
  constexpr const char* name = "resprout_checkpoint";
  if (World::current() == nullptr) return MPI_ERR_OTHER;
  int code = MPI_SUCCESS;
  note_checkpoint_begun();
  open_verification();
  if (Checkpoints* by = checkpoints.load(std::memory_order_acquire))
    code = by->take(protected_regions());
  else if (LastingCheckpoints* kept = LastingCheckpoints::of_process())
    code = kept->take(protected_regions());
  if (Flips* flips = armed_flips.load(std::memory_order_acquire); flips && code == MPI_SUCCESS)
    flips->at_checkpoint(protected_regions());
  if (code == MPI_ERR_PENDING)
    std::fprintf(stderr,
                 "resprout: resprout_checkpoint: messages or receives are under way; call it where "
                 "every message that was sent has been received\n");
  return finish(MPI_COMM_WORLD, name, code);
}
