#include "shim/replication/wildcards.hpp"

#include "shim/collectives/nonblocking/under_way.hpp"
#include "shim/replication/gaps.hpp"
#include "shim/replication/receives.hpp"

namespace resprout::shim {

std::optional<Decided::From> look_for_message(MPI_Comm comm, int source, int tag) {
  Receives* started = receives();
  if (started != nullptr) started->advance();
  const auto found = find_message(comm, source, tag);
  // A wildcard before it has its message, and it is not known yet which.
  if (found && started != nullptr && !started->is_clear(comm, found->source, found->tag))
    return std::nullopt;
  return found;
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
