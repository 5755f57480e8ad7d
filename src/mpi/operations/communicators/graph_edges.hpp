// The edges of a graph that its members name together. Thread rule: collective.
#pragma once

#include <mpi.h>

#include "mpi/handles/communicators/graph.hpp"

namespace resprout::shim {

// Of MPI_Dist_graph_create: what this process has to say to MPI_Dist_graph_create_adjacent, in the
// order of the ranks that named the edges. Collective over `comm`.
OwnEdges gathered_edges(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                        const int targets[], const int weights[]);

}  // namespace resprout::shim
