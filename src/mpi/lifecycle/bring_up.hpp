// From MPI_Init's world to a world of our own: who is where, the secret, the transports, the
// lifeline. Addresses are exchanged once, through MPI; afterwards nothing of ours uses it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/process/options.hpp"
#include "runtime/lifeline/lifeline.hpp"
#include "runtime/transports/router.hpp"

namespace resprout::shim {

struct Job {
  int rank = 0;
  int size = 1;
  int local_ranks = 1;             // that share this one's processors
  int cores = 1;                   // for them
  bool is_oversubscribed = false;  // on some host there are more ranks than cores
  std::vector<runtime::PeerAddress> peers;
  std::vector<std::string> host_names;
  runtime::ViewTree tree;  // as rank 0 has it; for the lifeline
  std::unique_ptr<runtime::Router> transport;
  std::unique_ptr<runtime::Lifeline> lifeline;  // not yet connected
};

// REQUIRES: MPI is initialized and no rank is lost. Collective over MPI_COMM_WORLD. `callbacks`
// carries the lifeline's callbacks. Throws std::system_error if the system refuses what is needed.
Job bring_up(const Options& options, runtime::LifelineOptions callbacks);

}  // namespace resprout::shim
