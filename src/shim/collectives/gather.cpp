// MPI_Gather and MPI_Gatherv: a reduce whose sum is a concatenation.
#include "shim/collectives/call.hpp"
#include "shim/collectives/pieces.hpp"
#include "shim/collectives/specs.hpp"
#include "shim/errors.hpp"
#include "shim/replication/compared.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// `mine`: the send buffer, or none if what the root contributes is in its place already.
int gather(CollectiveCall& call, const Piece* mine, const Pieces& said, int root) {
  const int rank = call.rank();
  int code = MPI_SUCCESS;
  const auto consume = [&](std::span<const std::byte> row) {
    if (rank != root) return;
    code = said.depend_on_lost(call.session())
               ? proc_failed()
               : take_row(row, said.among(call.session()), mine == nullptr ? rank : -1);
  };
  const runtime::Outcome outcome = call.session().gather(
      call.lock(), concatenation_spec(call.session()), root,
      row_of(call.session(), rank, mine != nullptr ? *mine : Piece{}), consume);
  return call.finish(outcome, code);
}

int gather(CollectiveCall& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
           const Pieces& all, int root) {
  if (sendbuf == MPI_IN_PLACE) return gather(call, nullptr, all, root);
  const Piece mine = Piece::of(sendbuf, sendcount, sendtype);
  return gather(call, &mine, all, root);
}

// What is significant at this process is what MPI would accept.
bool is_valid(const CollectiveCall& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
              const Pieces& all, int root) {
  if (root < 0 || root >= call.size()) return false;
  const bool is_root = call.rank() == root;
  if (is_root && !all.among(call.session()).are_valid(call.size())) return false;
  return sendbuf == MPI_IN_PLACE ? is_root : is_valid_buffer(sendcount, sendtype);
}

}  // namespace

extern "C" int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const Compared compared(
      comm, "gather",
      sides_of::gather(sendbuf, sendcount, sendtype, Pieces(recvbuf, recvcount, recvtype), root));
  CollectiveCall call(comm, "gather");
  const Pieces all(recvbuf, recvcount, recvtype);
  if (!call.is_ours() || !is_valid(call, sendbuf, sendcount, sendtype, all, root))
    return call.leave_to([&] {
      return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    });
  return gather(call, sendbuf, sendcount, sendtype, all, root);
}

extern "C" int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                           int root, MPI_Comm comm) {
  const Compared compared(comm, "gatherv",
                          sides_of::gather(sendbuf, sendcount, sendtype,
                                           Pieces(recvbuf, recvcounts, displs, recvtype), root));
  CollectiveCall call(comm, "gatherv");
  const Pieces all(recvbuf, recvcounts, displs, recvtype);
  if (!call.is_ours() || !is_valid(call, sendbuf, sendcount, sendtype, all, root))
    return call.leave_to([&] {
      return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                          comm);
    });
  return gather(call, sendbuf, sendcount, sendtype, all, root);
}
