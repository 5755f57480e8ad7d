// The neighbors of a process in a communicator with a topology: Cartesian, graph, distributed
// graph.
//
// MPI 4.0, section 8.6: blocks of neighborhood collectives are in the order of the sources and of
// the destinations. In a grid these are, dimension by dimension, who is one step down and one step
// up; beyond a border that is not periodic there is MPI_PROC_NULL, whose block has a place in the
// buffers, but is neither read nor written.
// Thread rule: pure.
#pragma once

#include <mpi.h>

#include <vector>

namespace resprout::shim {

struct Neighbors {
  std::vector<int> sources;
  std::vector<int> destinations;
};

// Of this process. None where there is no topology; MPI says what is wrong then.
Neighbors neighbors_of(MPI_Comm comm);

}  // namespace resprout::shim
