// MPI_Scatter and MPI_Scatterv: a broadcast of the blocks of all, of which everybody takes its own.
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/shared_slots/rendezvous.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/carriers/shared_slots/uneven.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// How many bytes the root is going to send: only it knows.
runtime::Outcome tell_size(CollectiveCall& call, int root, std::uint64_t& bytes) {
  bool has_size = false;
  const auto consume = [&](std::span<const std::byte> told) {
    has_size = told.size() == sizeof bytes;
    if (has_size) std::memcpy(&bytes, told.data(), sizeof bytes);
  };
  runtime::Outcome outcome =
      runtime::broadcast(call.session(), call.lock(), broadcast_spec(call.communicator()), root,
                         std::as_bytes(std::span(&bytes, 1)), consume);
  outcome.is_mismatched = outcome.is_delivered && !has_size;
  return outcome;
}

// Where only the root knows how long the row is, it says so first, and the row itself if it is
// short: so many bytes, and then the row.
constexpr std::size_t short_row_bytes = 4096;
constexpr std::size_t told_bytes = 16;

runtime::Buffer told_of(std::uint64_t bytes, std::span<const std::byte> row) {
  runtime::Buffer told(told_bytes + row.size());
  std::memset(told.data(), 0, told_bytes);
  std::memcpy(told.data(), &bytes, sizeof bytes);
  runtime::copy_bytes(told.data() + told_bytes, row.data(), row.size());
  return told;
}

// The root cannot say what is whose, since it has lost members: it sends an empty row.
bool is_of_nothing(std::span<const std::byte> row, const runtime::Session& session) {
  return row.empty() && !session.is_whole();
}

// `mine`: where it goes; null in place.
int take_scattered(const CollectiveCall& call, std::span<const std::byte> row, const Piece* mine) {
  const bool is_nothing = is_of_nothing(row, call.session());
  if (mine == nullptr) return is_nothing ? proc_failed() : MPI_SUCCESS;
  if (const auto block = runtime::find_block(row, call.rank())) return take_block(*block, *mine);
  return is_nothing ? proc_failed() : MPI_ERR_TRUNCATE;
}

// `row`: the blocks of all at the root, and of the same length anything elsewhere.
runtime::Outcome scatter(CollectiveCall& call, int root, std::span<const std::byte> row,
                         const Piece* mine, int& code) {
  return runtime::broadcast(
      call.session(), call.lock(), broadcast_spec(call.communicator()), root, row,
      [&](std::span<const std::byte> sent) { code = take_scattered(call, sent, mine); });
}

std::size_t row_bytes_of_all(const CollectiveCall& call, const Pieces& said) {
  if (said.depend_on_lost(call.session())) return 0;
  const Pieces all = said.among(call.session());
  std::size_t bytes = 0;
  for (int rank = 0; rank < call.size(); ++rank) bytes += all.of(rank).block_bytes();
  return bytes;
}

runtime::Buffer row_of_all(CollectiveCall& call, const Pieces& said) {
  if (said.depend_on_lost(call.session())) return {};
  const Pieces all = said.among(call.session());
  runtime::Buffer row = call.session().allocate(row_bytes_of_all(call, said));
  runtime::BlockWriter writer({row.data(), row.size()});
  for (int rank = 0; rank < call.size(); ++rank) put_piece(writer, rank, all.of(rank));
  return row;
}

// As above. `bytes`: how long the row is. If it is short, that was all.
runtime::Outcome tell_row(CollectiveCall& call, const Pieces& all, int root, const Piece* mine,
                          std::uint64_t& bytes, int& code) {
  runtime::Buffer told;
  std::span<const std::byte> payload{static_cast<const std::byte*>(nullptr),
                                     told_bytes + short_row_bytes};
  if (call.rank() == root) {
    bytes = row_bytes_of_all(call, all);
    told = told_of(bytes, bytes <= short_row_bytes ? row_of_all(call, all).view()
                                                   : std::span<const std::byte>());
    payload = told.view();
  }
  bool has_size = false;
  const auto consume = [&](std::span<const std::byte> heard) {
    has_size = heard.size() >= told_bytes;
    if (has_size) std::memcpy(&bytes, heard.data(), sizeof bytes);
    if (has_size && bytes <= short_row_bytes)
      code = take_scattered(call, heard.subspan(told_bytes), mine);
  };
  runtime::Outcome outcome = runtime::broadcast(
      call.session(), call.lock(), broadcast_spec(call.communicator()), root, payload, consume);
  outcome.is_mismatched = outcome.is_mismatched || (outcome.is_delivered && !has_size);
  return outcome;
}

// `is_even`: all blocks are of the same length, so that everybody knows how long the row is.
// `library(comm, to)`: the library's call.
template <typename Library>
int scatter(CollectiveCall& call, const Pieces& all, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, int root, bool is_even, Library library) {
  const bool is_root = call.rank() == root;
  const bool is_in_place = recvbuf == MPI_IN_PLACE;
  const Piece mine = is_in_place ? Piece{} : Piece::of(recvbuf, recvcount, recvtype);
  const std::size_t given =
      is_in_place ? all.of(root).layout.packed_bytes : mine.layout.packed_bytes;
  if (is_even) {
    const auto row_here = is_root ? all.all(call.size()) : std::vector<Piece>();
    if (const auto met = scatter_in_rendezvous(call, root, given, row_here, mine)) return *met;
  }
  std::uint64_t bytes = mine.block_bytes() * static_cast<std::size_t>(call.size());
  int code = MPI_SUCCESS;
  // Between hosts short rows are broadcasts of Resprout's, which nobody needs to wait for.
  const bool is_told = !is_even && call.may_run_ahead() &&
                       call.native(Kind::scatter, short_row_bytes) == MPI_COMM_NULL;
  if (is_told) {
    const runtime::Outcome outcome =
        tell_row(call, all, root, is_in_place ? nullptr : &mine, bytes, code);
    const bool has_size = outcome.is_delivered && !outcome.is_mismatched;
    if (!has_size || bytes <= short_row_bytes) return call.finish(outcome, code);
    call.note_before(outcome);
  }
  const MPI_Comm native = call.native(Kind::scatter, is_even ? given : bytes_unknown);
  if (native != MPI_COMM_NULL) {
    Landing landing(is_in_place ? std::vector<Piece>() : std::vector<Piece>{mine});
    void* to = is_in_place ? MPI_IN_PLACE : landing.at(recvbuf);
    const auto ended = call.run(native, landing, [&] { return library(native, to); }, root);
    if (ended) return *ended;
  }
  runtime::Buffer row;
  if (is_root) {
    row = row_of_all(call, all);
    bytes = row.size();
  }
  runtime::Outcome outcome;
  outcome.is_delivered = true;
  if (!is_even && !is_told) outcome = tell_size(call, root, bytes);
  // Either all have learned the size or nobody has.
  if (outcome.is_delivered && !outcome.is_mismatched)
    outcome =
        outcome + scatter(call, root, {row.data(), bytes}, is_in_place ? nullptr : &mine, code);
  return call.finish(outcome, code);
}

// What is significant at this process is what MPI would accept.
bool is_valid(const CollectiveCall& call, const Pieces& all, const void* recvbuf, int recvcount,
              MPI_Datatype recvtype, int root) {
  if (root < 0 || root >= call.size()) return false;
  const bool is_root = call.rank() == root;
  if (is_root && !all.among(call.session()).are_valid(call.size())) return false;
  return recvbuf == MPI_IN_PLACE ? is_root : is_valid_buffer(recvcount, recvtype);
}

}  // namespace

extern "C" int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const Compared compared(comm, "scatter",
                          call_data_of::scatter(Pieces(sendbuf, sendcount, sendtype), recvbuf,
                                                recvcount, recvtype, root));
  int code = MPI_SUCCESS;
  const Taken taken = maybe_scatter_by_shared_slots(sendbuf, sendcount, sendtype, recvbuf,
                                                    recvcount, recvtype, root, comm, code);
  if (taken == Taken::done) return code == MPI_SUCCESS ? code : finish(comm, "scatter", code);
  CollectiveCall call(comm, "scatter", CollectiveCall::Lock::at_once, entry_after(taken));
  const Pieces all(sendbuf, sendcount, sendtype);
  if (!call.is_ours() || !is_valid(call, all, recvbuf, recvcount, recvtype, root))
    return call.leave_to([&] {
      return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    });
  return scatter(
      call, all, recvbuf, recvcount, recvtype, root, true, [&](MPI_Comm native, void* to) {
        return PMPI_Scatter(sendbuf, sendcount, sendtype, to, recvcount, recvtype, root, native);
      });
}

extern "C" int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                            MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const Compared compared(comm, "scatterv",
                          call_data_of::scatter(Pieces(sendbuf, sendcounts, displs, sendtype),
                                                recvbuf, recvcount, recvtype, root));
  int code = MPI_SUCCESS;
  const Pieces all(sendbuf, sendcounts, displs, sendtype);
  const Taken taken =
      maybe_scatterv_by_shared_slots(all, recvbuf, recvcount, recvtype, root, comm, code);
  if (taken == Taken::done) return code == MPI_SUCCESS ? code : finish(comm, "scatterv", code);
  CollectiveCall call(comm, "scatterv", CollectiveCall::Lock::at_once, entry_after(taken));
  if (!call.is_ours() || !is_valid(call, all, recvbuf, recvcount, recvtype, root))
    return call.leave_to([&] {
      return PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                           root, comm);
    });
  if (taken == Taken::no) {
    const bool is_in_place = recvbuf == MPI_IN_PLACE;
    const Piece into = is_in_place ? Piece{} : Piece::of(recvbuf, recvcount, recvtype);
    const auto met = scatterv_by_shared_slots(call, all, root, is_in_place ? nullptr : &into);
    if (met) return *met;
  }
  return scatter(call, all, recvbuf, recvcount, recvtype, root, false,
                 [&](MPI_Comm native, void* to) {
                   return PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, to, recvcount,
                                        recvtype, root, native);
                 });
}
