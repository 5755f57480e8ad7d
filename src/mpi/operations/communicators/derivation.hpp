// What makes one communicator of another means, without the MPI library: who is in the new one.
//
// The members hold one roll call (roll_call.hpp), in which each says what the others have to know
// of its arguments. A member that died before it could is in no new communicator but those that
// name it; one that died later stays in it, dead.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mpi/handles/communicators/cartesian.hpp"
#include "mpi/handles/communicators/graph.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

class CollectiveCall;

struct Derivation {
  // MPI_SUCCESS, or what is wrong with the arguments, at all members alike.
  int code = MPI_SUCCESS;
  // What each member says of itself.
  std::vector<std::byte> said;
  // Ranks of `comm`, in the order of the new one; without this process: it gets MPI_COMM_NULL.
  std::function<std::vector<int>(MPI_Comm comm, const RollCall& roll)> choose;
  std::optional<Grid> grid;
  std::optional<Graph> graph;
  bool has_attributes = false;  // those of the old one
  // What all do then before anything is derived; without the engine's lock. Empty: nothing.
  std::function<void(Derivation&)> complete;
};

// MPI_Comm_dup, MPI_Comm_split, MPI_Comm_split_type by MPI_COMM_TYPE_SHARED, MPI_Comm_create,
// MPI_Cart_create, MPI_Cart_sub, MPI_Graph_create, MPI_Dist_graph_create_adjacent,
// MPI_Dist_graph_create.
Derivation duplicate(MPI_Comm comm);
Derivation split(int color, int key);
Derivation split_by_host(MPI_Comm comm, int split_type, int key);
Derivation members_of(MPI_Group group);
Derivation cart(MPI_Comm comm, int ndims, const int dims[], const int periods[]);
Derivation subgrid(MPI_Comm comm, const int remain_dims[]);
Derivation whole_graph(MPI_Comm comm, int nnodes, const int index[], const int edges[]);
Derivation own_edges(OwnEdges edges);
Derivation edges_of_all(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                        const int targets[], const int weights[]);
// For all that nobody can make without MPI.
Derivation impossible();
// Of arguments that are wrong, as `code` says.
Derivation refused(int code);

// What MPI knows of its own communicators, and this of derived ones. Nothing: it is no grid.
std::optional<Grid> grid_of(MPI_Comm comm);

// `call`: that of the program, under the engine's lock; `before`: what it has done until now;
// `roll`: in which they have said what the derivation says.
int derive(CollectiveCall& call, const runtime::Outcome& before, MPI_Comm comm, RollCall& roll,
           const Derivation& derivation, MPI_Comm* made);

}  // namespace resprout::shim
