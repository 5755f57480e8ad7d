// For whom this process waits, for the launcher, which says who keeps whom waiting
// (docs/how-to/hang.md).
//
// waiting-<rank> in the run directory, whole or not there:
//   {"call": "MPI_Barrier", "communicator": "MPI_COMM_WORLD", "session": 7, "number": 3,
//    "needs": "members", "ranks": [0, 1, 2], "calls": 12}
// needs    members: all `ranks` have to come to it; peer: one of `ranks` has to send or receive;
//          unknown: it waits for requests, say
// session  of the communicator, the same at all members; number: of the call among those of its
//          name there
// ranks    in the world
// calls    the position at which it waits (position.hpp): if the process has left that, what stands
//          here is over
//
// Thread rule: the thread that waits, inside of the call.
#pragma once

#include <cstdint>
#include <string>

namespace resprout::shim {

void write_waiting(const std::string& path, std::uint64_t calls);

}  // namespace resprout::shim
