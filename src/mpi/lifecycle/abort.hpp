// MPI_Abort, which under ULFM ends only its caller and leaves the launcher waiting.
#pragma once

#include <string>
#include <vector>

#include "runtime/lifeline/peer_address.hpp"

namespace resprout::shim {

// Ends all processes of the job: those on this host by their process ids, the others through the
// launcher. `status` becomes the exit status of the job under `resprout run`. `line`: says why on
// stderr; empty: somebody else says it.
[[noreturn]] void end_job(const std::vector<runtime::PeerAddress>& peers, int rank,
                          const std::string& run_directory, int status, std::string line);

}  // namespace resprout::shim
