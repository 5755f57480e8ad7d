// What Open MPI has left in shared memory of processes that were killed there while they made a
// window: a file that the first rank makes, all map, and it removes. The launcher does not know of
// it (docs/reference/open-mpi.md), so those who live clear it away at their end.
// Thread rule: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/process/world.hpp"

namespace resprout::shim {

// Of this process's job, in the names of Open MPI's files.
struct JobNames {
  std::string host;
  std::string job;

  bool operator==(const JobNames&) const = default;
};

// By the segments that a process has mapped, `maps` as in /proc/PID/maps; nothing: it has none of
// Open MPI's.
std::optional<JobNames> job_names_in(std::string_view maps);

// The files in `folder` of windows that these ranks were to be the first ones of.
void remove_window_files(const std::string& folder, const JobNames& names,
                         const std::vector<int>& world_ranks);

// Of the lost of this host, by the lowest rank that lives there.
void remove_left_behind(const World& world);

}  // namespace resprout::shim
