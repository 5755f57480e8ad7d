// The two groups of an inter-communicator, and the session over both. It has one where all of its
// processes are of this job and Resprout has made it: what is made of it is agreed on there.
//
// Its collectives stay the MPI library's, so they have nothing to do with that session.
// Thread rule: as of sessions.hpp.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "runtime/session.hpp"

namespace resprout::shim {

// World ranks. Both sides call the same group the first: that with the lower rank at its head.
struct BothGroups {
  std::vector<int> own;
  std::vector<int> other;

  // REQUIRES: neither group is empty.
  bool is_own_first() const { return own.front() < other.front(); }
  // The first group, and the second one behind it.
  std::vector<int> all() const;
  // The first group has so many members.
  std::size_t first_size() const { return (is_own_first() ? own : other).size(); }
};

// `comm` is an inter-communicator with such a session. REQUIRES: MPI is initialized.
bool has_both_groups(MPI_Comm comm);
// REQUIRES: it is an inter-communicator.
BothGroups both_groups_of(MPI_Comm inter);
// REQUIRES: has_both_groups().
runtime::Session& session_of_both(MPI_Comm inter);

// `inter` is new, and `session` is over both of its groups. Under the engine's lock.
void join_both_groups(MPI_Comm inter, runtime::Session& session);

}  // namespace resprout::shim
