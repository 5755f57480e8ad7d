// The neighbors of a process in a communicator with a topology: Cartesian, graph, distributed
// graph.
//
// MPI 4.0, section 8.6: blocks of neighborhood collectives are in the order of the sources and of
// the destinations. In a grid these are, dimension by dimension, who is one step down and one step
// up; beyond a border that is not periodic there is MPI_PROC_NULL, whose block has a place in the
// buffers, but is neither read nor written. Two processes can be neighbors several times: in a
// graph the n-th block from one to the other is the n-th that this one gets from it; in a ring of
// two what is sent up comes from below. Thread rule: pure.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "mpi/handles/communicators/graph.hpp"

namespace resprout::shim {

struct Neighbors {
  std::vector<int> sources;
  std::vector<int> destinations;
  // Which of the blocks between the two that one is, as both say.
  std::vector<int> numbers_in;
  std::vector<int> numbers_out;
};

// Of a communicator, derived or MPI's own. Nothing: it is no graph.
std::optional<Graph> graph_of(MPI_Comm comm);

// Of this process. None where there is no topology; MPI says what is wrong then.
Neighbors neighbors_of(MPI_Comm comm);

}  // namespace resprout::shim
