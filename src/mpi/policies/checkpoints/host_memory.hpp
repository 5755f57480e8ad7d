// The folder of this host in which checkpoints are kept in memory.
//
// Where a job has several hosts the launcher can make and remove folders on its own alone: the
// ranks make them, and a process that is no rank removes them when the job is over. It holds the
// lock by which later jobs know that the folder is not left behind (launch/owned_folder.py).
//
// Thread rule: one thread.
#pragma once

#include <string>

namespace resprout::shim {

// `pattern` with the host's name in place of %h.
std::string folder_on_this_host(const std::string& pattern);
// Whether it names a folder on each host.
bool is_for_several_hosts(const std::string& pattern);

// As long as the launcher lives it touches this file in the folder of the job. `run_directory`: of
// this life.
std::string sign_of_life(const std::string& run_directory);

// There is one, readable by this user alone. 0 or errno.
int make_folder(const std::string& folder);
// A process that removes it when there is no sign of life any more, if there is none yet. Whether
// there is one.
bool watch_over(const std::string& folder, const std::string& sign);

}  // namespace resprout::shim
