// New communicators. The MPI library makes them while nobody in the world is lost. Afterwards, and
// if a loss falls into that, derived ones are made, among the same processes, of whom the dead stay
// dead; and so is all that is made of a derived one. With `--on-loss error` the program is told
// instead if its communicator has lost a member.
//
// Where siblings stand in for the lost (policies/replicas/replica_substitution.hpp) they are as
// good as the living: what they would have said of their arguments is asked for, and all that is
// made has the name that other planes give it, whoever makes it there.
//
// All members agree on that in operations of ours, so that none of them enters MPI without the
// others. A loss that falls into MPI's part of it must not end them (handles/openmpi/making.hpp).
//
// A new communicator gets its session, and a private one of the library's
// (handles/communicators/natives.hpp), at once. Then there is a barrier: nobody may revoke it
// before all have it, because Open MPI 5.0 does not live through that.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpi/carriers/anybody.hpp"
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/exchanges/neighbor_messages.hpp"
#include "mpi/carriers/new_natives.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/attributes.hpp"
#include "mpi/handles/communicators/both_groups.hpp"
#include "mpi/handles/communicators/common_name.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/communicators/departures.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/mpich/breaking_off.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/operations/communicators/between.hpp"
#include "mpi/operations/communicators/derivation.hpp"
#include "mpi/operations/communicators/graph_edges.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/host_map.hpp"
#include "mpi/policies/replicas/lone_calls.hpp"
#include "mpi/policies/replicas/substituted_collective.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// What all members say. What the lost cannot say any more siblings say, where they stand in.
runtime::Outcome hear_all(CollectiveCall& call, MPI_Comm comm, const char* name, RollCall& roll,
                          std::span<const std::byte> said) {
  const auto bytes = static_cast<int>(said.size());
  const SubstitutedCall substituted(comm, name, [&](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::gather};
    call_data.give(said.data(), bytes, MPI_BYTE);
    for (int rank = 0; rank < call_data.size(); ++rank)
      call_data.get(roll.at(rank).data(), bytes, MPI_BYTE);
  });
  std::copy(said.begin(), said.end(), roll.mine().begin());
  runtime::Outcome outcome = roll.say(call.lock());
  note_outcome(call.session(), outcome);
  call.lock().unlock();  // to ask siblings
  return outcome;
}

// What the call returns; nothing if MPI could not make it at all members.
std::optional<int> make_natively(CollectiveCall& call, MPI_Comm comm, const char* name,
                                 bool may_have_native, MPI_Comm* made,
                                 const std::function<int()>& native) {
  int code = MPI_SUCCESS;
  call.lock().unlock();
  {
    const QuietMaking quiet;
    code = unless_lost(native);
  }
  // Where it did not end well for some, others may have it nevertheless: then nobody uses it.
  const std::byte here = end_of_making(code);
  const std::byte ended = what_anybody_says(call.session(), call.lock(), here);
  if ((ended & making_ran_out) != std::byte{0}) {
    *made = MPI_COMM_NULL;
    return call.leave_to([&] { return finish(comm, name, code_without_numbers(comm, code)); });
  }
  if (ended != std::byte{0}) {
    note_broken_making();
    return std::nullopt;
  }
  if (code == MPI_SUCCESS) {
    name_child(comm, *made);
    note_copied_attributes(comm, *made);
  }
  const std::uint64_t child = call.session().next_child();
  call.lock().unlock();
  bool has_neighbors = code != MPI_SUCCESS;
  if (code == MPI_SUCCESS && may_have_native) {
    make_native(*made);
    has_neighbors = make_neighbors(*made);
  }
  if (code == MPI_SUCCESS) open_communicator(*made, child, call.lock());
  if (does_anybody_say(call.session(), call.lock(), !has_neighbors)) forgo_neighbors(*made);
  return call.leave_to([&] { return code; });
}

// `name`: the lower-case MPI name; `of_mpi()`: MPI's own call; `derivation()`: what it means
// without MPI.
template <typename Derive>
int make(MPI_Comm comm, const char* name, MPI_Comm* made, const std::function<int()>& of_mpi,
         Derive derivation) {
  CollectiveCall call(comm, name, CollectiveCall::Lock::later);
  if (!call.is_ours()) {
    const LoneCall alone(comm, name);
    const int code = of_mpi();
    if (code != MPI_SUCCESS || World::current() == nullptr) return code;
    name_child(comm, *made);
    note_copied_attributes(comm, *made);
    return finish(comm, name, open_by_common_name(*made));
  }
  Derivation derived = derivation();
  RollCall roll(call.session(), derived.said.size());
  const runtime::Outcome outcome = hear_all(call, comm, name, roll, derived.said);
  finish_departures(World::current()->engine(), call.lock());
  if (call.session().is_revoked()) return call.finish(outcome);
  if (call.is_whole() && roll.is_peaceful() && !call.communicator().derived)
    if (const auto code = make_natively(call, comm, name, roll.may_have_native(), made, of_mpi))
      return *code;
  const World& world = *World::current();
  const bool is_told = world.options().on_loss == OnLoss::error && !call_policy().stands_in();
  if (!ulfm::outlives_losses() || (!call.is_whole() && is_told))
    return call.finish(outcome, proc_failed());
  if (derived.complete) {
    call.lock().unlock();
    derived.complete(derived);
  }
  call.lock();
  return derive(call, outcome, comm, roll, derived, made);
}

}  // namespace

extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  if (has_both_groups(comm)) return duplicate_between(comm, "comm_dup", newcomm);
  const int code = make(
      comm, "comm_dup", newcomm, [&] { return PMPI_Comm_dup(comm, newcomm); },
      [&] { return duplicate(comm); });
  if (code == MPI_SUCCESS && World::current() != nullptr && is_made_for_library(comm, newcomm))
    communicator_of(*newcomm)->is_of_library = true;
  return code;
}

extern "C" int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  const bool is_between = has_both_groups(comm);
  const int code = is_between ? duplicate_between(comm, "comm_dup_with_info", newcomm)
                              : make(
                                    comm, "comm_dup_with_info", newcomm,
                                    [&] { return PMPI_Comm_dup_with_info(comm, info, newcomm); },
                                    [&] { return duplicate(comm); });
  const bool is_by_library = code == MPI_SUCCESS && !is_between && !is_derived(*newcomm);
  if (code == MPI_SUCCESS && info != MPI_INFO_NULL && !is_by_library)
    MPI_Comm_set_info(*newcomm, info);
  return code;
}

extern "C" int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  if (has_both_groups(comm)) return split_between(comm, color, key, newcomm);
  return make(
      comm, "comm_split", newcomm, [&] { return PMPI_Comm_split(comm, color, key, newcomm); },
      [&] { return split(color, key); });
}

namespace {

// The library knows the hosts of this plane; ranks that share one in all planes share one here.
int split_type_in_mpi(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* made) {
  const int code = PMPI_Comm_split_type(comm, split_type, key, info, made);
  const World* world = World::current();
  const auto first = world != nullptr ? first_on_shared_host(world->rank()) : std::nullopt;
  if (code != MPI_SUCCESS || !first || split_type != MPI_COMM_TYPE_SHARED) return code;
  MPI_Comm on_host = *made;
  const int split_code = PMPI_Comm_split(on_host, *first, 0, made);
  PMPI_Comm_free(&on_host);
  return split_code;
}

}  // namespace

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                                   MPI_Comm* newcomm) {
  const bool is_by_host = split_type == MPI_COMM_TYPE_SHARED || split_type == MPI_UNDEFINED;
  return make(
      comm, "comm_split_type", newcomm,
      [&] { return split_type_in_mpi(comm, split_type, key, info, newcomm); },
      [&] { return is_by_host ? split_by_host(comm, split_type, key) : impossible(); });
}

extern "C" int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  if (has_both_groups(comm)) return create_between(comm, group, newcomm);
  return make(
      comm, "comm_create", newcomm, [&] { return PMPI_Comm_create(comm, group, newcomm); },
      [&] { return members_of(group); });
}

extern "C" int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[],
                               int reorder, MPI_Comm* newcomm) {
  return make(
      comm, "cart_create", newcomm,
      [&] { return PMPI_Cart_create(comm, ndims, dims, periods, reorder, newcomm); },
      [&] { return cart(comm, ndims, dims, periods); });
}

extern "C" int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return make(
      comm, "cart_sub", newcomm, [&] { return PMPI_Cart_sub(comm, remain_dims, newcomm); },
      [&] { return subgrid(comm, remain_dims); });
}

extern "C" int MPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                                int reorder, MPI_Comm* newcomm) {
  return make(
      comm, "graph_create", newcomm,
      [&] { return PMPI_Graph_create(comm, nnodes, index, edges, reorder, newcomm); },
      [&] { return whole_graph(comm, nnodes, index, edges); });
}

extern "C" int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                              const int sourceweights[], int outdegree,
                                              const int destinations[], const int destweights[],
                                              MPI_Info info, int reorder, MPI_Comm* newcomm) {
  // In a plane with a gap ranks stay as they are, so in all.
  if (call_policy().stands_in()) reorder = 0;
  return make(
      comm, "dist_graph_create_adjacent", newcomm,
      [&] {
        return PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree,
                                               destinations, destweights, info, reorder, newcomm);
      },
      [&] {
        const bool has_all =
            (indegree == 0 || sources != nullptr) && (outdegree == 0 || destinations != nullptr);
        if (indegree < 0 || outdegree < 0 || !has_all) return refused(MPI_ERR_ARG);
        OwnEdges edges;
        edges.is_weighted = sourceweights != MPI_UNWEIGHTED;
        edges.sources.assign(sources, sources + indegree);
        edges.destinations.assign(destinations, destinations + outdegree);
        if (edges.is_weighted && indegree > 0)
          edges.weights_in.assign(sourceweights, sourceweights + indegree);
        if (edges.is_weighted && outdegree > 0)
          edges.weights_out.assign(destweights, destweights + outdegree);
        return own_edges(std::move(edges));
      });
}

// Where siblings stand in the neighbors have to be in one order in all planes: MPI has them in that
// in which messages have come.
extern "C" int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                                     const int targets[], const int weights[], MPI_Info info,
                                     int reorder, MPI_Comm* newcomm) {
  if (call_policy().stands_in() && comm != MPI_COMM_NULL && n >= 0) {
    entering("dist_graph_create");
    const OwnEdges own = gathered_edges(comm, n, nodes, degrees, targets, weights);
    const auto as_given = [&](const std::vector<int>& of) {
      return !own.is_weighted ? MPI_UNWEIGHTED : of.empty() ? MPI_WEIGHTS_EMPTY : of.data();
    };
    return MPI_Dist_graph_create_adjacent(
        comm, static_cast<int>(own.sources.size()), own.sources.data(), as_given(own.weights_in),
        static_cast<int>(own.destinations.size()), own.destinations.data(),
        as_given(own.weights_out), info, reorder, newcomm);
  }
  return make(
      comm, "dist_graph_create", newcomm,
      [&] {
        return PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder,
                                      newcomm);
      },
      [&] { return edges_of_all(comm, n, nodes, degrees, targets, weights); });
}
