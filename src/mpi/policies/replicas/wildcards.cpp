#include "mpi/policies/replicas/wildcards.hpp"

#include "mpi/policies/replicas/gaps.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/process/patience.hpp"

namespace resprout::shim {

std::optional<Decided::From> look_for_message(MPI_Comm comm, int source, int tag) {
  if (Receives* started = receives()) return started->look_for_message(comm, source, tag);
  return find_message(comm, source, tag);
}

Decided::From decided_source(MPI_Comm comm, int source, int tag) {
  Decided* by = decided.load(std::memory_order_acquire);
  if (by == nullptr || source != MPI_ANY_SOURCE) return {source, tag};
  return by->probe([&] {
    Patience patience;
    for (;;) {
      if (const auto found = look_for_message(comm, source, tag)) return *found;
      patience.pause();
    }
  });
}

}  // namespace resprout::shim
