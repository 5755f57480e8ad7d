// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (docs/protocols/concatenation.md).
//
// If it is little, everybody gets everything. Else one gather for each receiver, and in the end all
// tell each other whose blocks they lack; nobody takes these.
#include <vector>

#include "shim/collectives/call.hpp"
#include "shim/collectives/pieces.hpp"
#include "shim/collectives/specs.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// How much everybody may get, counting what is for others.
constexpr std::size_t at_once_bytes_max = std::size_t{1} << 20;

class Exchange {
 public:
  Exchange(CollectiveCall& call, const Pieces& send, const Pieces& receive)
      : call_(call), send_(send), receive_(receive) {}

  // A row of all pieces.
  std::size_t row_bytes() const {
    std::size_t bytes = 0;
    for (int rank = 0; rank < call_.size(); ++rank) bytes += send_.of(rank).block_bytes();
    return bytes;
  }

  // The rows of all members together: they differ in length, so all tell each other.
  runtime::Outcome sum_up(std::size_t& bytes) {
    const std::uint64_t mine = row_bytes();
    const auto consume = [&](std::span<const std::byte> row) {
      runtime::BlockReader reader(row);
      while (const auto block = reader.next()) {
        std::uint64_t theirs = 0;
        std::memcpy(&theirs, block->data.data(), sizeof theirs);
        bytes += theirs;
      }
    };
    return allgather(std::as_bytes(std::span(&mine, 1)), consume);
  }

  // Everybody gets the rows of all.
  runtime::Outcome run_at_once() {
    runtime::Buffer row(row_bytes());
    runtime::BlockWriter writer({row.data(), row.size()});
    for (int rank = 0; rank < call_.size(); ++rank) put_piece(writer, rank, send_.of(rank));
    return allgather(row.view(), [&](std::span<const std::byte> rows) {
      runtime::BlockReader reader(rows);
      while (const auto theirs = reader.next())
        if (const auto block = runtime::find_block(theirs->data, call_.rank()))
          take(theirs->rank, *block);
    });
  }

  // Each receiver in turn gets its pieces. Somebody who dies meanwhile may have given to some and
  // not to others: what counts is agreed upon in the end.
  runtime::Outcome run_by_receiver() {
    std::vector<std::byte> blocks;
    runtime::Outcome outcome;
    for (int receiver = 0; receiver < call_.size(); ++receiver)
      outcome = outcome +
                call_.session().gather(call_.lock(), concatenation_spec(call_.session()), receiver,
                                       row_of(call_.session(), call_.rank(), send_.of(receiver)),
                                       [&](std::span<const std::byte> row) {
                                         if (receiver == call_.rank())
                                           blocks.assign(row.begin(), row.end());
                                       });
    std::vector<bool> counts;
    outcome = outcome + agree_on_who_counts(blocks, counts);
    runtime::BlockReader reader(blocks);
    while (const auto block = reader.next())
      if (counts[static_cast<std::size_t>(block->rank)]) take(block->rank, block->data);
    return outcome;
  }

  int code() const { return code_; }

 private:
  runtime::Outcome allgather(std::span<const std::byte> data, runtime::ResultConsumer consume) {
    runtime::Session& session = call_.session();
    runtime::Buffer row = session.allocate(runtime::block_bytes(data.size()));
    runtime::BlockWriter({row.data(), row.size()}).put(call_.rank(), data);
    return session.allgather(call_.lock(), concatenation_spec(session), std::move(row), consume);
  }

  // Everybody tells whose blocks it lacks. By rank, the same everywhere: whether it has told, and
  // nobody lacks its block.
  runtime::Outcome agree_on_who_counts(std::span<const std::byte> blocks,
                                       std::vector<bool>& counts) {
    const auto size = static_cast<std::size_t>(call_.size());
    std::vector<bool> has(size);
    runtime::BlockReader reader(blocks);
    while (const auto block = reader.next()) has[static_cast<std::size_t>(block->rank)] = true;
    std::vector<int> lacking;
    for (int rank = 0; rank < call_.size(); ++rank)
      if (!has[static_cast<std::size_t>(rank)]) lacking.push_back(rank);
    counts.assign(size, false);
    std::vector<int> lacked;
    const auto consume = [&](std::span<const std::byte> row) {
      runtime::BlockReader lists(row);
      while (const auto list = lists.next()) {
        counts[static_cast<std::size_t>(list->rank)] = true;
        const std::size_t before = lacked.size();
        lacked.resize(before + list->data.size() / sizeof(int));
        runtime::copy_bytes(lacked.data() + before, list->data.data(), list->data.size());
      }
    };
    const runtime::Outcome outcome = allgather(std::as_bytes(std::span(lacking)), consume);
    for (const int rank : lacked) counts[static_cast<std::size_t>(rank)] = false;
    return outcome;
  }

  void take(int from, std::span<const std::byte> block) {
    const int taken = take_block(block, receive_.of(from));
    if (taken != MPI_SUCCESS) code_ = taken;
  }

  CollectiveCall& call_;
  const Pieces& send_;
  const Pieces& receive_;
  int code_ = MPI_SUCCESS;
};

// `is_even`: all pieces of all are of the same length, so that everybody knows the sum.
int exchange(CollectiveCall& call, const Pieces& send, const Pieces& receive, bool is_even) {
  Exchange exchange(call, send, receive);
  runtime::Outcome outcome;
  std::size_t bytes = 0;
  if (is_even)
    bytes = exchange.row_bytes() * static_cast<std::size_t>(call.size());
  else
    outcome = exchange.sum_up(bytes);
  outcome =
      outcome + (bytes <= at_once_bytes_max ? exchange.run_at_once() : exchange.run_by_receiver());
  return call.finish(outcome, exchange.code());
}

bool are_valid(const CollectiveCall& call, const void* sendbuf, const Pieces& send,
               const Pieces& receive) {
  return receive.are_valid(call.size()) && (sendbuf == MPI_IN_PLACE || send.are_valid(call.size()));
}

}  // namespace

extern "C" int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call(comm, "alltoall");
  const Pieces send(sendbuf, sendcount, sendtype);
  const Pieces receive(recvbuf, recvcount, recvtype);
  if (!call.is_ours() || !are_valid(call, sendbuf, send, receive))
    return call.leave_to([&] {
      return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    });
  return exchange(call, sendbuf == MPI_IN_PLACE ? receive : send, receive, true);
}

extern "C" int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  CollectiveCall call(comm, "alltoallv");
  const Pieces send(sendbuf, sendcounts, sdispls, sendtype);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtype);
  if (!call.is_ours() || !are_valid(call, sendbuf, send, receive))
    return call.leave_to([&] {
      return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                            recvtype, comm);
    });
  return exchange(call, sendbuf == MPI_IN_PLACE ? receive : send, receive, false);
}

extern "C" int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  CollectiveCall call(comm, "alltoallw");
  const Pieces send(sendbuf, sendcounts, sdispls, sendtypes);
  const Pieces receive(recvbuf, recvcounts, rdispls, recvtypes);
  if (!call.is_ours() || !are_valid(call, sendbuf, send, receive))
    return call.leave_to([&] {
      return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                            recvtypes, comm);
    });
  return exchange(call, sendbuf == MPI_IN_PLACE ? receive : send, receive, false);
}
