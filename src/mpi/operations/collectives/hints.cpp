// Hints: a communicator can have a protocol of its own for its broadcasts, and somebody of its own
// who carries its collectives.
//
// MPI's way to tell a library how to treat a communicator is an info object. The keys are
// `resprout_bcast`, with a spec as for RESPROUT_BCAST, and `resprout_collectives`, with auto,
// native, resprout or trees. Programs that run without Resprout lose nothing by it: unknown keys
// are ignored.
#include <cstdio>
#include <optional>
#include <string>

#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/info_value.hpp"
#include "mpi/process/world.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

constexpr const char* bcast_key = "resprout_bcast";
constexpr const char* collectives_key = "resprout_collectives";

bool is_right(const char* key, const std::string& wrong) {
  if (!wrong.empty()) std::fprintf(stderr, "resprout: %s: %s\n", key, wrong.c_str());
  return wrong.empty();
}

// False: nothing has changed, and one line says why.
bool take_hints(MPI_Info info, Communicator& communicator) {
  std::optional<runtime::BroadcastSpec> broadcast = communicator.broadcast;
  std::optional<Collectives> collectives = communicator.collectives;
  const auto wanted_broadcast = value_of(info, bcast_key);
  if (wanted_broadcast && !is_right(bcast_key, read_broadcast(*wanted_broadcast, broadcast)))
    return false;
  const auto wanted_way = value_of(info, collectives_key);
  if (wanted_way &&
      !is_right(collectives_key, parse_collectives(*wanted_way, collectives.emplace())))
    return false;
  if (!wanted_broadcast && !wanted_way) return true;
  if (communicator.shared_slots != nullptr) communicator.shared_slots->machine.end();
  communicator.broadcast = broadcast;
  communicator.collectives = collectives;
  return true;
}

}  // namespace

// As MPI demands, all members call it with the same hints, and no collective is running meanwhile.
// A wrong value changes nothing: one line on stderr, and MPI_ERR_INFO_VALUE.
extern "C" int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  if (World::current() != nullptr && comm != MPI_COMM_NULL && info != MPI_INFO_NULL &&
      !take_hints(info, *communicator_of(comm)))
    return finish(comm, "comm_set_info", MPI_ERR_INFO_VALUE);
  return PMPI_Comm_set_info(comm, info);
}
