// A communicator of a group, whose members alone take part: they agree among themselves whether the
// MPI library makes it, in a session of its own.
//
// Thread rule: as of collectives.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/session.hpp"

namespace resprout::shim {

struct GroupMaking {
  std::vector<int> world_ranks;  // this process among them
  std::uint64_t key = 0;         // names the session: no other making by these processes has it
  runtime::Session* parent = nullptr;  // when that is revoked, this ends; null: it has none
  bool is_known_to_mpi = true;         // what it is to be made of
  MPI_Comm like = MPI_COMM_NULL;       // whose error handler it gets where the library has no part
  std::function<int(MPI_Comm*)> native;
};

// Collective over the group. What the call is to return; no handler has heard of an error.
int make_of_group(const GroupMaking& making, MPI_Comm* made);

}  // namespace resprout::shim
