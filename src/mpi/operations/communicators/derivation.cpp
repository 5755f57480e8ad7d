#include "mpi/operations/communicators/derivation.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/communicators/attributes.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/neighbors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/operations/communicators/derived_making.hpp"
#include "mpi/operations/communicators/graph_edges.hpp"
#include "mpi/policies/replicas/host_map.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

int size_of(MPI_Comm comm) { return static_cast<int>(communicator_of(comm)->world_ranks.size()); }

std::vector<int> everybody_in(MPI_Comm comm) {
  std::vector<int> ranks(static_cast<std::size_t>(size_of(comm)));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// What a member of a split says of itself. Zeros: nothing, it was lost.
struct Choice {
  int has_color = 0;
  int color = 0;
  int key = 0;
};

Choice choice_of(const RollCall& roll, int member) {
  Choice choice;
  std::memcpy(&choice, roll.of(member).data(), sizeof choice);
  return choice;
}

std::vector<int> of_same_color(MPI_Comm comm, const RollCall& roll) {
  const Choice mine = choice_of(roll, communicator_of(comm)->rank);
  std::vector<int> ranks;
  if (mine.has_color == 0) return ranks;
  for (const int rank : everybody_in(comm)) {
    const Choice choice = choice_of(roll, rank);
    if (choice.has_color != 0 && choice.color == mine.color) ranks.push_back(rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int one, int other) {
    return choice_of(roll, one).key < choice_of(roll, other).key;
  });
  return ranks;
}

std::vector<int> in_group(MPI_Comm comm, MPI_Group group) {
  std::vector<int> ranks = ranks_of_group(comm, group);
  std::erase(ranks, MPI_UNDEFINED);
  return ranks;
}

}  // namespace

std::optional<Grid> grid_of(MPI_Comm comm) {
  if (is_derived(comm)) return communicator_of(comm)->grid;
  int topology = MPI_UNDEFINED;
  int ndims = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology != MPI_CART || PMPI_Cartdim_get(comm, &ndims) != MPI_SUCCESS) return std::nullopt;
  std::vector<int> dims(static_cast<std::size_t>(ndims));
  std::vector<int> periods(dims.size());
  std::vector<int> own(dims.size());
  PMPI_Cart_get(comm, ndims, dims.data(), periods.data(), own.data());
  return make_grid(ndims, dims.data(), periods.data());
}

Derivation duplicate(MPI_Comm comm) {
  Derivation derivation;
  derivation.grid = grid_of(comm);
  derivation.graph = graph_of(comm);
  derivation.choose = [](MPI_Comm of, const RollCall&) { return everybody_in(of); };
  derivation.has_attributes = true;
  return derivation;
}

Derivation split(int color, int key) {
  const Choice choice{color == MPI_UNDEFINED ? 0 : 1, color, key};
  const auto bytes = std::as_bytes(std::span(&choice, 1));
  Derivation derivation;
  derivation.said.assign(bytes.begin(), bytes.end());
  derivation.choose = of_same_color;
  return derivation;
}

Derivation split_by_host(MPI_Comm comm, int split_type, int key) {
  const World* world = World::current();
  if (split_type == MPI_UNDEFINED || world == nullptr || comm == MPI_COMM_NULL)
    return split(MPI_UNDEFINED, key);
  const std::vector<int>& world_ranks = communicator_of(comm)->world_ranks;
  const auto own = first_on_shared_host(world->rank());
  const auto first = std::find_if(world_ranks.begin(), world_ranks.end(), [&](int rank) {
    return own ? first_on_shared_host(rank) == own : world->is_on_own_host(rank);
  });
  return split(static_cast<int>(first - world_ranks.begin()), key);
}

Derivation members_of(MPI_Group group) {
  Derivation derivation;
  derivation.choose = [group](MPI_Comm comm, const RollCall&) { return in_group(comm, group); };
  return derivation;
}

Derivation cart(MPI_Comm comm, int ndims, const int dims[], const int periods[]) {
  Derivation derivation;
  derivation.grid = make_grid(ndims, dims, periods);
  if (!derivation.grid || derivation.grid->size() > size_of(comm)) {
    derivation.code = MPI_ERR_DIMS;
    return derivation;
  }
  derivation.choose = [count = derivation.grid->size()](MPI_Comm of, const RollCall&) {
    std::vector<int> ranks = everybody_in(of);
    ranks.resize(static_cast<std::size_t>(count));
    return ranks;
  };
  return derivation;
}

Derivation subgrid(MPI_Comm comm, const int remain_dims[]) {
  Derivation derivation;
  const std::optional<Grid> grid = grid_of(comm);
  if (!grid) {
    derivation.code = MPI_ERR_TOPOLOGY;
    return derivation;
  }
  derivation.grid = grid->sub(remain_dims);
  derivation.choose = [whole = *grid,
                       kept = std::vector<int>(remain_dims, remain_dims + grid->dims.size())](
                          MPI_Comm of, const RollCall&) {
    return whole.ranks_beside(communicator_of(of)->rank, kept.data());
  };
  return derivation;
}

Derivation whole_graph(MPI_Comm comm, int nnodes, const int index[], const int edges[]) {
  if (nnodes < 0 || nnodes > size_of(comm) || (nnodes > 0 && index == nullptr))
    return refused(MPI_ERR_ARG);
  const int count = nnodes == 0 ? 0 : index[nnodes - 1];
  if (count < 0 || (count > 0 && edges == nullptr)) return refused(MPI_ERR_ARG);
  Derivation derivation;
  derivation.graph = Graph{WholeGraph{{index, index + nnodes}, {edges, edges + count}}, {}};
  derivation.choose = [nnodes](MPI_Comm of, const RollCall&) {
    std::vector<int> ranks = everybody_in(of);
    ranks.resize(static_cast<std::size_t>(nnodes));
    return ranks;
  };
  return derivation;
}

Derivation own_edges(OwnEdges edges) {
  Derivation derivation;
  derivation.graph = Graph{{}, std::move(edges)};
  derivation.choose = [](MPI_Comm of, const RollCall&) { return everybody_in(of); };
  return derivation;
}

Derivation edges_of_all(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                        const int targets[], const int weights[]) {
  Derivation derivation = own_edges({});
  derivation.complete = [=](Derivation& it) {
    it.graph = Graph{{}, gathered_edges(comm, n, nodes, degrees, targets, weights)};
  };
  return derivation;
}

Derivation impossible() { return refused(proc_failed()); }

Derivation refused(int code) {
  Derivation derivation;
  derivation.code = code;
  return derivation;
}

int derive(CollectiveCall& call, const runtime::Outcome& before, MPI_Comm comm, RollCall& roll,
           const Derivation& derivation, MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  if (derivation.code != MPI_SUCCESS) return call.finish(before, derivation.code);
  roll.find_carrier(call.lock());
  if (call.session().is_revoked()) return call.finish(before);
  const std::uint64_t name = call.session().next_child();
  const Communicator& parent = *communicator_of(comm);
  std::vector<int> world_ranks;
  for (const int rank : derivation.choose(comm, roll))
    world_ranks.push_back(parent.world_ranks[static_cast<std::size_t>(rank)]);
  const int self = World::current()->rank();
  if (std::find(world_ranks.begin(), world_ranks.end(), self) == world_ranks.end()) {
    name_child(comm, MPI_COMM_NULL);
    return call.leave_to([] { return MPI_SUCCESS; });
  }
  const int code = make_derived(std::move(world_ranks), roll, name, comm, made, call.lock());
  if (code != MPI_SUCCESS) return call.finish(before, code);
  name_child(comm, *made);
  communicator_of(*made)->grid = derivation.grid;
  communicator_of(*made)->graph = derivation.graph;
  return call.leave_to(
      [&] { return derivation.has_attributes ? copy_attributes(comm, *made) : code; });
}

}  // namespace resprout::shim
