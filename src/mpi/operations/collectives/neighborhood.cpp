// Neighborhood collectives, blocking, non-blocking and persistent: messages between neighbors
// (neighbor_messages.hpp), or an exchange among all members (neighbor_exchange.hpp) on
// communicators that were made after a loss, and where nothing is left to the library. The MPI
// library's own where it does not notice losses, and where replicas are verified.
//
// Where replicas are verified they compare what a rank gives to its neighbors and what it gets from
// them.
//
// Where siblings stand in for the lost each block is asked for
// (policies/replicas/substituted_collective.hpp), whoever lives: a plane that has a gap since a
// moment ago cannot tell who of its processes are inside of the library's, and wait for those that
// are not.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/exchanges/neighbor_exchange.hpp"
#include "mpi/carriers/exchanges/neighbor_messages.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/operations/guarded_call.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "mpi/policies/replicas/compared_requests.hpp"
#include "mpi/policies/replicas/substituted_collective.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// What takes the blocks of neighbors as they come.
class Neighborhood final : public Collective {
 public:
  explicit Neighborhood(runtime::Session& session) : Collective(session) { leave_to_program(); }

 private:
  void begin(runtime::Started&) override {}
  bool is_ready(runtime::Started&) override { return call().substituted->maybe_put_neighbors(); }
  void take(std::span<const std::byte>) override {}
};

// It is carried by siblings, and has arguments that mean something.
bool is_for_siblings(MPI_Comm comm, const Describe& describe) {
  if (!call_policy().stands_in() || World::current() == nullptr || comm == MPI_COMM_NULL ||
      !name_of(comm))
    return false;
  const Communicator& communicator = *communicator_of(comm);
  if (communicator.is_native) return false;
  CallData call_data(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
  describe(call_data);
  return call_data.pattern.kind == Pattern::Kind::neighbors;
}

// What was started before is over.
void finish_tasks(MPI_Comm comm) {
  runtime::Lock lock = World::current()->engine().lock();
  session_of(comm, lock)->finish_tasks(lock);
}

Startable neighborhood(const Describe& describe) {
  return {[](MPI_Comm, Communicator& carrying) -> std::shared_ptr<Collective> {
            return std::make_shared<Neighborhood>(*carrying.session);
          },
          describe};
}

// Whether all members carry it themselves: the same answer at all of them.
bool is_carried(MPI_Comm comm) {
  const World* world = World::current();
  if (world == nullptr || comm == MPI_COMM_NULL || call_policy().stands_in()) return false;
  if (is_derived(comm)) return true;
  const Communicator& communicator = *communicator_of(comm);
  const bool is_own = are_own(communicator.collectives.value_or(world->options().collectives));
  // MPICH and Intel MPI go on after a loss, of which they know nothing.
  const bool is_unaware = ulfm::outlives_losses() && !ulfm::is_active();
  return (is_own || is_unaware) && !communicator.is_inter && !communicator.is_native;
}

// Null: it has no topology, or the arguments mean nothing.
std::shared_ptr<Collective> own_exchange(MPI_Comm comm, runtime::Session& session,
                                         const Describe& describe) {
  const Communicator& communicator = *communicator_of(comm);
  const Neighbors neighbors = neighbors_of(comm);
  CallData call_data(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
  int topology = MPI_UNDEFINED;
  MPI_Topo_test(comm, &topology);
  if (topology != MPI_UNDEFINED) describe(call_data);
  if (call_data.pattern.kind != Pattern::Kind::neighbors) return nullptr;
  return std::make_shared<NeighborExchange>(session, neighbors, std::move(call_data));
}

// What MPI would say of a call that means nothing; of a derived one it does not know.
template <typename Native>
int refuse(MPI_Comm comm, const char* name, const Native& native) {
  int topology = MPI_UNDEFINED;
  MPI_Topo_test(comm, &topology);
  if (!is_derived(comm)) return native();
  return finish(comm, name, topology == MPI_UNDEFINED ? MPI_ERR_TOPOLOGY : MPI_ERR_ARG);
}

// Whether neighbors send each other messages: the same answer at all members.
bool has_messages(MPI_Comm comm) {
  const World* world = World::current();
  return world != nullptr && comm != MPI_COMM_NULL && goes_on_without(world->options()) &&
         communicator_of(comm)->neighbors != MPI_COMM_NULL;
}

// Nothing: the arguments mean nothing.
std::optional<CallData> sides_in(MPI_Comm comm, const Describe& describe) {
  const Communicator& communicator = *communicator_of(comm);
  CallData call_data(communicator.rank, static_cast<int>(communicator.world_ranks.size()));
  describe(call_data);
  if (call_data.pattern.kind != Pattern::Kind::neighbors) return std::nullopt;
  return call_data;
}

Startable messages(const Describe& describe, int number) {
  return {[describe, number](MPI_Comm comm, Communicator& carrying) -> std::shared_ptr<Collective> {
            auto call_data = sides_in(comm, describe);
            if (!call_data) return nullptr;
            return std::make_shared<NeighborMessaging>(*carrying.session, comm,
                                                       std::move(*call_data), number);
          },
          describe};
}

// What was started before is over: it has its place in the order of the calls.
template <typename Native>
int send_messages(MPI_Comm comm, const char* name, const Describe& describe, Native native) {
  GuardedCall call(name, comm);
  const auto call_data = sides_in(comm, describe);
  if (!call_data) return call.finish(native());
  if (is_revoked(comm)) return call.finish(code_of_loss(comm));
  if (is_any_under_way()) finish_tasks(comm);
  NeighborMessages sent(comm, *call_data, 0);
  Patience patience;
  while (!sent.advance()) patience.pause();
  return is_loss(sent.code()) ? call.finish(sent.code()) : finish(comm, name, sent.code());
}

Startable carried(const Describe& describe) {
  return {[describe](MPI_Comm comm, Communicator& carrying) {
            return own_exchange(comm, *carrying.session, describe);
          },
          describe};
}

template <typename Native>
int carry(MPI_Comm comm, const char* name, const Describe& describe, Native native) {
  CollectiveCall call(comm, name);
  if (!call.is_ours()) return call.leave_to(native);
  const auto ours = own_exchange(comm, call.session(), describe);
  return ours ? ours->run(call) : call.leave_to([&] { return refuse(comm, name, native); });
}

// `name`: the lower-case MPI name, a string literal; `native`: MPI's own call.
template <typename Description, typename Native>
int exchange(MPI_Comm comm, const char* name, const Description& describe, Native native) {
  const Compared compared(comm, name, describe);
  if (is_carried(comm)) return carry(comm, name, describe, native);
  if (has_messages(comm)) return send_messages(comm, name, describe, native);
  GuardedCall call(name, comm);
  if (call.is_ours() && compared.is_of_neighbors()) {
    finish_tasks(comm);
    return call.finish(MPI_SUCCESS);
  }
  if (call.is_ours() && is_derived(comm)) return refuse_derived(comm, name);
  return call.finish(native());
}

template <typename Native>
int start(MPI_Comm comm, const char* name, MPI_Request* request, const Describe& describe,
          Native native) {
  if (is_for_siblings(comm, describe))
    return start_collective(comm, name, request, neighborhood(describe), native);
  if (is_carried(comm))
    return start_collective(comm, name, request, carried(describe),
                            [&] { return refuse(comm, name, native); });
  if (has_messages(comm))
    return start_collective(comm, name, request, messages(describe, 0), native);
  ComparedStart compared(comm, name, describe);
  GuardedCall call(name, comm);
  if (call.is_ours() && is_derived(comm)) return refuse_derived(comm, name);
  const int code = native();
  if (code == MPI_SUCCESS) compared.go_on_as(*request);
  return call.finish(code);
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES
template <typename Native>
int init(MPI_Comm comm, const char* name, MPI_Request* request, const Describe& describe,
         Native native) {
  if (is_for_siblings(comm, describe))
    return init_collective(comm, name, request, neighborhood(describe), native);
  if (is_carried(comm))
    return init_collective(comm, name, request, carried(describe),
                           [&] { return refuse(comm, name, native); });
  if (has_messages(comm)) {
    const int number = ++communicator_of(comm)->made.neighborhoods;
    return init_collective(comm, name, request, messages(describe, number), native);
  }
  GuardedCall call(name, comm);
  if (call.is_ours() && is_derived(comm)) return refuse_derived(comm, name);
  const int code = native();
  if (code == MPI_SUCCESS) remember_compared(*request, comm, name, describe);
  return call.finish(code);
}

// What goes to neighbors, and what comes from them, for longer than the call.
Pieces kept_out(const Pieces& pieces, MPI_Comm comm) {
  return pieces.kept(static_cast<int>(neighbors_of(comm).destinations.size()));
}
Pieces kept_in(const Pieces& pieces, MPI_Comm comm) {
  return pieces.kept(static_cast<int>(neighbors_of(comm).sources.size()));
}

#endif

}  // namespace

extern "C" int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm) {
  return exchange(comm, "neighbor_allgather",
                  call_data_of::neighbor_allgather(comm, sendbuf, sendcount, sendtype,
                                                   Pieces(recvbuf, recvcount, recvtype)),
                  [&] {
                    return PMPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype, comm);
                  });
}

extern "C" int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, const int recvcounts[], const int displs[],
                                       MPI_Datatype recvtype, MPI_Comm comm) {
  return exchange(comm, "neighbor_allgatherv",
                  call_data_of::neighbor_allgather(comm, sendbuf, sendcount, sendtype,
                                                   Pieces(recvbuf, recvcounts, displs, recvtype)),
                  [&] {
                    return PMPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                    recvcounts, displs, recvtype, comm);
                  });
}

extern "C" int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     MPI_Comm comm) {
  return exchange(comm, "neighbor_alltoall",
                  call_data_of::neighbor_alltoall(comm, Pieces(sendbuf, sendcount, sendtype),
                                                  Pieces(recvbuf, recvcount, recvtype)),
                  [&] {
                    return PMPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                  recvtype, comm);
                  });
}

extern "C" int MPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[],
                                      const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                      const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPI_Comm comm) {
  return exchange(
      comm, "neighbor_alltoallv",
      call_data_of::neighbor_alltoall(comm, Pieces(sendbuf, sendcounts, sdispls, sendtype),
                                      Pieces(recvbuf, recvcounts, rdispls, recvtype)),
      [&] {
        return PMPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                       rdispls, recvtype, comm);
      });
}

extern "C" int MPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[],
                                      const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                      void* recvbuf, const int recvcounts[],
                                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                      MPI_Comm comm) {
  return exchange(
      comm, "neighbor_alltoallw",
      call_data_of::neighbor_alltoall(comm, Pieces(sendbuf, sendcounts, sdispls, sendtypes),
                                      Pieces(recvbuf, recvcounts, rdispls, recvtypes)),
      [&] {
        return PMPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                       rdispls, recvtypes, comm);
      });
}

extern "C" int MPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                       MPI_Comm comm, MPI_Request* request) {
  return start(comm, "ineighbor_allgather", request,
               call_data_of::neighbor_allgather(comm, sendbuf, sendcount, sendtype,
                                                Pieces(recvbuf, recvcount, recvtype)),
               [&] {
                 return PMPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                 recvtype, comm, request);
               });
}

extern "C" int MPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, const int recvcounts[], const int displs[],
                                        MPI_Datatype recvtype, MPI_Comm comm,
                                        MPI_Request* request) {
  return start(comm, "ineighbor_allgatherv", request,
               call_data_of::neighbor_allgather(comm, sendbuf, sendcount, sendtype,
                                                Pieces(recvbuf, recvcounts, displs, recvtype)),
               [&] {
                 return PMPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                                  displs, recvtype, comm, request);
               });
}

extern "C" int MPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm, MPI_Request* request) {
  return start(comm, "ineighbor_alltoall", request,
               call_data_of::neighbor_alltoall(comm, Pieces(sendbuf, sendcount, sendtype),
                                               Pieces(recvbuf, recvcount, recvtype)),
               [&] {
                 return PMPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                recvtype, comm, request);
               });
}

extern "C" int MPI_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[],
                                       const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                       const int recvcounts[], const int rdispls[],
                                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return start(comm, "ineighbor_alltoallv", request,
               call_data_of::neighbor_alltoall(comm, Pieces(sendbuf, sendcounts, sdispls, sendtype),
                                               Pieces(recvbuf, recvcounts, rdispls, recvtype)),
               [&] {
                 return PMPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                 recvcounts, rdispls, recvtype, comm, request);
               });
}

extern "C" int MPI_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[],
                                       const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                       void* recvbuf, const int recvcounts[],
                                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                       MPI_Comm comm, MPI_Request* request) {
  return start(
      comm, "ineighbor_alltoallw", request,
      call_data_of::neighbor_alltoall(comm, Pieces(sendbuf, sendcounts, sdispls, sendtypes),
                                      Pieces(recvbuf, recvcounts, rdispls, recvtypes)),
      [&] {
        return PMPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                        recvcounts, rdispls, recvtypes, comm, request);
      });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Neighbor_allgather_init(const void* sendbuf, int sendcount,
                                           MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                           MPI_Request* request) {
  return init(comm, "neighbor_allgather_init", request,
              call_data_of::neighbor_allgather(comm, sendbuf, sendcount, sendtype,
                                               Pieces(recvbuf, recvcount, recvtype)),
              [&] {
                return PMPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf,
                                                    recvcount, recvtype, comm, info, request);
              });
}

extern "C" int MPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount,
                                            MPI_Datatype sendtype, void* recvbuf,
                                            const int recvcounts[], const int displs[],
                                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                            MPI_Request* request) {
  return init(comm, "neighbor_allgatherv_init", request,
              call_data_of::neighbor_allgather(
                  comm, sendbuf, sendcount, sendtype,
                  kept_in(Pieces(recvbuf, recvcounts, displs, recvtype), comm)),
              [&] {
                return PMPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf,
                                                     recvcounts, displs, recvtype, comm, info,
                                                     request);
              });
}

extern "C" int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                          MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init(comm, "neighbor_alltoall_init", request,
              call_data_of::neighbor_alltoall(comm, Pieces(sendbuf, sendcount, sendtype),
                                              Pieces(recvbuf, recvcount, recvtype)),
              [&] {
                return PMPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype, comm, info, request);
              });
}

extern "C" int MPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                           const int sdispls[], MPI_Datatype sendtype,
                                           void* recvbuf, const int recvcounts[],
                                           const int rdispls[], MPI_Datatype recvtype,
                                           MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init(comm, "neighbor_alltoallv_init", request,
              call_data_of::neighbor_alltoall(
                  comm, kept_out(Pieces(sendbuf, sendcounts, sdispls, sendtype), comm),
                  kept_in(Pieces(recvbuf, recvcounts, rdispls, recvtype), comm)),
              [&] {
                return PMPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                    recvcounts, rdispls, recvtype, comm, info,
                                                    request);
              });
}

extern "C" int MPI_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                           const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                           void* recvbuf, const int recvcounts[],
                                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                           MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init(comm, "neighbor_alltoallw_init", request,
              call_data_of::neighbor_alltoall(
                  comm, kept_out(Pieces(sendbuf, sendcounts, sdispls, sendtypes), comm),
                  kept_in(Pieces(recvbuf, recvcounts, rdispls, recvtypes), comm)),
              [&] {
                return PMPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes,
                                                    recvbuf, recvcounts, rdispls, recvtypes, comm,
                                                    info, request);
              });
}

#endif
