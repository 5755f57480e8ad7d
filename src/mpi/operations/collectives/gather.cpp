// MPI_Gather and MPI_Gatherv: a reduce whose sum is a concatenation.
#include <optional>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/shared_slots/gathers.hpp"
#include "mpi/carriers/shared_slots/rendezvous.hpp"
#include "mpi/carriers/shared_slots/uneven.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// Nothing else of this kind is said on the communicators of the library's collectives.
constexpr int confirmation_tag = 2;

// At the root. `mine`: the send buffer, or none if what the root contributes is in its place
// already.
int take_gathered(CollectiveCall& call, MPI_Comm comm, const Piece* mine, const Pieces& said,
                  std::span<const std::byte> row) {
  if (said.depend_on_lost(call.session())) return proc_failed();
  const int code = take_row(row, said.among(call.session()), mine == nullptr ? call.rank() : -1);
  const auto missing_values = missing_values_of(call.communicator());
  if (missing_values && said.are_even() && code == MPI_SUCCESS)
    fill_missing(*missing_values, comm, call.size(), row, [&](int r) { return said.of(r); });
  return code;
}

int gather(CollectiveCall& call, MPI_Comm comm, const Piece* mine, const Pieces& said, int root) {
  const int rank = call.rank();
  int code = MPI_SUCCESS;
  const auto consume = [&](std::span<const std::byte> row) {
    if (rank == root) code = take_gathered(call, comm, mine, said, row);
  };
  const runtime::Outcome outcome =
      runtime::gather(call.session(), call.lock(), concatenation_spec(call.session()), root,
                      row_of(call.session(), rank, mine != nullptr ? *mine : Piece{}), consume);
  return call.finish(outcome, code);
}

// Of MPI_Gatherv the root alone knows the counts, and others may have none at all. So each sees for
// itself whether it gives too much to keep it, and waits for the root's word then.
class Confirmation {
 public:
  Confirmation(MPI_Comm native, const Pieces& all, int root, int ranks)
      : native_(native), all_(all), root_(root), ranks_(ranks) {}

  static bool is_needed(const Piece& given) { return given.layout.packed_bytes > given_bytes_max; }

  // Whoever cannot be told gives again what it has given, for nothing.
  void tell() const {
    int code = MPI_SUCCESS;
    for (int rank = 0; rank < ranks_ && code == MPI_SUCCESS; ++rank)
      if (rank != root_ && is_needed(all_.of(rank)))
        code = PMPI_Send(nullptr, 0, MPI_BYTE, rank, confirmation_tag, native_);
    if (code != MPI_SUCCESS) revoke_native(native_);
  }
  int wait() const {
    return PMPI_Recv(nullptr, 0, MPI_BYTE, root_, confirmation_tag, native_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Comm native_;
  const Pieces& all_;
  int root_;
  int ranks_;
};

// Leaves it to the MPI library until a loss: what the call returns; nothing if it is for the
// session. `library(comm, from, count, type, to)`: the library's call. `is_even`: all give as many
// bytes.
template <typename Library>
std::optional<int> leave_gather(CollectiveCall& call, MPI_Comm comm, std::size_t bytes,
                                bool is_even, const Piece* mine, const Pieces& all, int root,
                                void* recvbuf, Library library) {
  const MPI_Comm native = call.native(Kind::gather, is_even ? bytes : bytes_unknown);
  if (native == MPI_COMM_NULL) return std::nullopt;
  const bool is_root = call.rank() == root;
  Landing landing(is_root ? all.all(call.size()) : std::vector<Piece>());
  const Piece given = mine != nullptr ? *mine : all.of(root);
  const void* from = mine != nullptr ? given.buffer : landing.input_at(given.buffer);
  void* to = is_root ? landing.at(recvbuf) : recvbuf;
  const auto run = [&] {
    return library(native, from, static_cast<int>(given.layout.count), given.layout.datatype, to);
  };
  if (is_even ? !call.may_keep_given(bytes) : !call.may_run_ahead())
    return call.run(native, landing, run);
  const Confirmation confirmation(native, all, root, call.size());
  const bool is_confirmed = !is_even && !is_root && Confirmation::is_needed(given);
  NativeGather ahead(
      {.native = native,
       .root = root,
       .kept_bytes = is_even ? runtime::block_bytes(bytes) : uneven_bytes,
       .is_done_with = is_root || is_confirmed},
      landing, [&] { return row_of(call.session(), call.rank(), given); },
      [&] {
        const int code = run();
        if (code == MPI_SUCCESS && is_confirmed) return confirmation.wait();
        if (code == MPI_SUCCESS && is_root && !is_even) confirmation.tell();
        return code;
      },
      [&](std::span<const std::byte> rows) { return take_gathered(call, comm, mine, all, rows); });
  return call.run_ahead(ahead);
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
  const Compared compared(comm, "gather",
                          call_data_of::gather(sendbuf, sendcount, sendtype,
                                               Pieces(recvbuf, recvcount, recvtype), root));
  int code = MPI_SUCCESS;
  const Taken taken = maybe_gather_by_shared_slots(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype, root, comm, code);
  if (taken == Taken::done) return code;
  CollectiveCall call(comm, "gather", CollectiveCall::Lock::at_once, entry_after(taken));
  const Pieces all(recvbuf, recvcount, recvtype);
  if (!call.is_ours() || !is_valid(call, sendbuf, sendcount, sendtype, all, root))
    return call.leave_to([&] {
      return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    });
  if (call.rank() == root) expect_counts(sendbuf, recvbuf, recvcount, recvtype, call.size());
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const Piece given = is_in_place ? Piece{} : Piece::of(sendbuf, sendcount, sendtype);
  const Piece* mine = is_in_place ? nullptr : &given;
  const std::size_t bytes = (is_in_place ? all.of(root) : given).layout.packed_bytes;
  const bool is_root = call.rank() == root;
  const auto into = is_root ? all.all(call.size()) : std::vector<Piece>();
  const int except = is_in_place ? root : -1;
  if (const auto met = gather_small(call, bytes, root, given, into, except)) return *met;
  const auto ended =
      leave_gather(call, comm, bytes, true, mine, all, root, recvbuf,
                   [&](MPI_Comm native, const void* from, int count, MPI_Datatype type, void* to) {
                     return PMPI_Gather(from, count, type, to, recvcount, recvtype, root, native);
                   });
  return ended ? *ended : gather(call, comm, mine, all, root);
}

extern "C" int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                           int root, MPI_Comm comm) {
  const Compared compared(
      comm, "gatherv",
      call_data_of::gather(sendbuf, sendcount, sendtype,
                           Pieces(recvbuf, recvcounts, displs, recvtype), root));
  CollectiveCall call(comm, "gatherv");
  const Pieces all(recvbuf, recvcounts, displs, recvtype);
  if (!call.is_ours() || !is_valid(call, sendbuf, sendcount, sendtype, all, root))
    return call.leave_to([&] {
      return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                          comm);
    });
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const Piece given = is_in_place ? Piece{} : Piece::of(sendbuf, sendcount, sendtype);
  const Piece* mine = is_in_place ? nullptr : &given;
  if (const auto met = gatherv_by_shared_slots(call, given, all, root, is_in_place)) return *met;
  const auto ended = leave_gather(
      call, comm, 0, false, mine, all, root, recvbuf,
      [&](MPI_Comm native, const void* from, int count, MPI_Datatype type, void* to) {
        return PMPI_Gatherv(from, count, type, to, recvcounts, displs, recvtype, root, native);
      });
  return ended ? *ended : gather(call, comm, mine, all, root);
}
