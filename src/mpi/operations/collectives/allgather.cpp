// MPI_Allgather and MPI_Allgatherv: an allreduce whose sum is a concatenation.
#include <algorithm>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/shared_slots/rendezvous.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// Who cannot take what there is gives all the same, and all get the same error. `library(comm,
// from, count, type, to)`: the library's call. `is_even`: all give as much.
template <typename Library>
int allgather(CollectiveCall& call, MPI_Comm comm, const void* sendbuf, int sendcount,
              MPI_Datatype sendtype, const Pieces& said, void* recvbuf, bool is_even,
              Library library) {
  const int rank = call.rank();
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const bool takes_all = !said.depend_on_lost(call.session());
  const Pieces all = said.among(call.session());
  Piece mine;
  if (!is_in_place) mine = Piece::of(sendbuf, sendcount, sendtype);
  if (is_in_place && takes_all) mine = all.of(rank);
  const std::vector<Piece> pieces = takes_all ? all.all(call.size()) : std::vector<Piece>();
  std::size_t largest = 0;
  for (const Piece& piece : pieces) largest = std::max(largest, piece.layout.packed_bytes);
  if (is_even || call.is_whole()) {
    const auto ended =
        gather_in_rendezvous(call, Kind::allgather, largest, mine, pieces, is_in_place ? rank : -1);
    if (ended) return *ended;
  }
  const MPI_Comm native = call.native(Kind::allgather, bytes_of(pieces));
  if (native != MPI_COMM_NULL) {
    Landing landing(pieces);
    const void* from = is_in_place ? landing.input_at(mine.buffer) : mine.buffer;
    const auto ended = call.run(native, landing, [&] {
      return library(native, from, static_cast<int>(mine.layout.count), mine.layout.datatype,
                     landing.at(recvbuf));
    });
    if (ended) return *ended;
  }
  const auto missing_values = missing_values_of(call.communicator());
  int code = MPI_SUCCESS;
  const auto consume = [&](std::span<const std::byte> row) {
    if (takes_all) code = take_row(row, all, is_in_place ? rank : -1);
    if (code == MPI_SUCCESS && !runtime::do_all_take(row)) code = proc_failed();
    if (missing_values && all.are_even() && code == MPI_SUCCESS)
      fill_missing(*missing_values, comm, call.size(), row, [&](int r) { return all.of(r); });
  };
  const runtime::Outcome outcome =
      runtime::allgather(call.session(), call.lock(), concatenation_spec(call.session()),
                         row_of(call.session(), rank, mine, takes_all), consume);
  return call.finish(outcome, code);
}

bool is_valid(const CollectiveCall& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
              const Pieces& all) {
  return all.among(call.session()).are_valid(call.size()) &&
         (sendbuf == MPI_IN_PLACE || is_valid_buffer(sendcount, sendtype));
}

}  // namespace

extern "C" int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const Compared compared(
      comm, "allgather",
      call_data_of::allgather(sendbuf, sendcount, sendtype, Pieces(recvbuf, recvcount, recvtype)));
  CollectiveCall call(comm, "allgather");
  const Pieces all(recvbuf, recvcount, recvtype);
  if (!call.is_ours() || !is_valid(call, sendbuf, sendcount, sendtype, all))
    return call.leave_to([&] {
      return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    });
  expect_counts(sendbuf, recvbuf, recvcount, recvtype, call.size());
  return allgather(call, comm, sendbuf, sendcount, sendtype, all, recvbuf, true,
                   [&](MPI_Comm native, const void* from, int count, MPI_Datatype type, void* to) {
                     return PMPI_Allgather(from, count, type, to, recvcount, recvtype, native);
                   });
}

extern "C" int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm) {
  const Compared compared(comm, "allgatherv",
                          call_data_of::allgather(sendbuf, sendcount, sendtype,
                                                  Pieces(recvbuf, recvcounts, displs, recvtype)));
  CollectiveCall call(comm, "allgatherv");
  const Pieces all(recvbuf, recvcounts, displs, recvtype);
  if (!call.is_ours() || !is_valid(call, sendbuf, sendcount, sendtype, all))
    return call.leave_to([&] {
      return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                             comm);
    });
  return allgather(call, comm, sendbuf, sendcount, sendtype, all, recvbuf, false,
                   [&](MPI_Comm native, const void* from, int count, MPI_Datatype type, void* to) {
                     return PMPI_Allgatherv(from, count, type, to, recvcounts, displs, recvtype,
                                            native);
                   });
}
