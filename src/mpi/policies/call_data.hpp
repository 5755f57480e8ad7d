// What the arguments of a collective mean: what one rank gives to it and what it gets from it.
//
// `call_data_of::...` says so for each collective, whichever form it is called in: blocking,
// non-blocking or persistent. Arguments that MPI would not accept are passed over.
// Thread rule: one thread at a time.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "mpi/handles/communicators/neighbors.hpp"
#include "mpi/handles/datatypes/pieces.hpp"

namespace resprout::shim {

// What a collective does with the contributions of the single ranks.
struct Pattern {
  enum class Kind : std::uint8_t {
    other,
    barrier,
    broadcast,
    gather,      // what each rank gives is the block of that rank
    scatter,     // each block of the root's is for one rank
    exchange,    // likewise, of everybody's
    reduction,   // all of them in one, of which each rank gets the same part or none
    prefix,      // those of the lower ranks and its own
    lower_ones,  // those of the lower ranks
    neighbors,   // blocks for some ranks, from some (`ways`)
  };
  Kind kind = Kind::other;
  int root = -1;
  MPI_Op op = MPI_OP_NULL;
  std::int64_t first = 0;  // of a reduction: with this element begins the part that this rank gets
};

// Of a block of a neighborhood collective: from or to whom, and which part of all that its sender
// gives it is; 0: all.
struct Way {
  int rank = 0;
  int part = 0;
};

class CallData {
 public:
  CallData(int rank, int size) : rank_(rank), size_(size) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  void give(const void* buffer, std::int64_t count, MPI_Datatype datatype) {
    add(given_, buffer, count, datatype);
  }
  void get(const void* buffer, std::int64_t count, MPI_Datatype datatype) {
    add(got_, buffer, count, datatype);
  }
  // What MPI_IN_PLACE means to reductions and gathers.
  void give(const void* sendbuf, const void* recvbuf, std::int64_t count, MPI_Datatype datatype) {
    give(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, datatype);
  }
  void give_own(const Pieces& pieces) {
    if (pieces.are_valid(size_)) given_.push_back(pieces.of(rank_));
  }
  void give_all(const Pieces& pieces) { add_all(given_, pieces); }
  void get_all(const Pieces& pieces) { add_all(got_, pieces); }
  // A block for each neighbor, or from each, but for those that are MPI_PROC_NULL.
  void give_each(const Neighbors& neighbors, const Pieces& pieces);
  void get_each(const Neighbors& neighbors, const Pieces& pieces);
  // From each neighbor all that it gives.
  void get_all_of_each(const Neighbors& neighbors, const Pieces& pieces);

  Pattern pattern;
  const std::vector<Piece>& given() const { return given_; }
  const std::vector<Piece>& got() const { return got_; }
  // For callers that keep them longer than the call.
  std::vector<Piece>& given() { return given_; }
  std::vector<Piece>& got() { return got_; }
  // Of neighborhood collectives: of the blocks that are given, unless it is one for all, and got.
  const std::vector<Way>& ways_out() const { return ways_out_; }
  const std::vector<Way>& ways_in() const { return ways_in_; }

 private:
  static void add(std::vector<Piece>& to, const void* buffer, std::int64_t count,
                  MPI_Datatype datatype);
  void add_all(std::vector<Piece>& to, const Pieces& pieces) const;
  // False: these are not valid.
  static bool add_each(std::vector<Piece>& to, const std::vector<int>& neighbors,
                       const Pieces& pieces);

  int rank_;
  int size_;
  std::vector<Piece> given_;
  std::vector<Piece> got_;
  std::vector<Way> ways_out_;
  std::vector<Way> ways_in_;
};

// Nothing: the call carries no data.
using Describe = std::function<void(CallData&)>;

namespace call_data_of {

inline auto bcast(const void* buffer, int count, MPI_Datatype datatype, int root) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::broadcast, .root = root};
    if (call_data.rank() == root) {
      call_data.give(buffer, count, datatype);
    } else {
      call_data.get(buffer, count, datatype);
    }
  };
}

inline auto barrier() {
  return [](CallData& call_data) { call_data.pattern = {.kind = Pattern::Kind::barrier}; };
}

// MPI_Scan's, too: of `kind` prefix.
inline auto allreduce(const void* sendbuf, const void* recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, Pattern::Kind kind = Pattern::Kind::reduction) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = kind, .op = op};
    call_data.give(sendbuf, recvbuf, count, datatype);
    call_data.get(recvbuf, count, datatype);
  };
}

inline auto reduce(const void* sendbuf, const void* recvbuf, int count, MPI_Datatype datatype,
                   MPI_Op op, int root) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::reduction, .op = op};
    call_data.give(sendbuf, recvbuf, count, datatype);
    if (call_data.rank() == root) call_data.get(recvbuf, count, datatype);
  };
}

inline auto exscan(const void* sendbuf, const void* recvbuf, int count, MPI_Datatype datatype,
                   MPI_Op op) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::lower_ones, .op = op};
    call_data.give(sendbuf, recvbuf, count, datatype);
    if (call_data.rank() > 0) call_data.get(recvbuf, count, datatype);
  };
}

inline auto reduce_scatter(const void* sendbuf, const void* recvbuf, const int* recvcounts,
                           MPI_Datatype datatype, MPI_Op op) {
  return [=](CallData& call_data) {
    if (recvcounts == nullptr) return;
    const auto first = std::accumulate(recvcounts, recvcounts + call_data.rank(), std::int64_t{0});
    call_data.pattern = {.kind = Pattern::Kind::reduction, .op = op, .first = first};
    const auto sum = std::accumulate(recvcounts, recvcounts + call_data.size(), std::int64_t{0});
    call_data.give(sendbuf, recvbuf, sum, datatype);
    call_data.get(recvbuf, recvcounts[call_data.rank()], datatype);
  };
}

inline auto reduce_scatter_block(const void* sendbuf, const void* recvbuf, int recvcount,
                                 MPI_Datatype datatype, MPI_Op op) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::reduction,
                         .op = op,
                         .first = std::int64_t{recvcount} * call_data.rank()};
    call_data.give(sendbuf, recvbuf, std::int64_t{recvcount} * call_data.size(), datatype);
    call_data.get(recvbuf, recvcount, datatype);
  };
}

// `all`: where the blocks of all ranks go.
inline auto allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                      const Pieces& all) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::gather};
    if (sendbuf == MPI_IN_PLACE) {
      call_data.give_own(all);
    } else {
      call_data.give(sendbuf, sendcount, sendtype);
    }
    call_data.get_all(all);
  };
}

inline auto gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, const Pieces& all,
                   int root) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::gather, .root = root};
    if (sendbuf == MPI_IN_PLACE) {
      call_data.give_own(all);
    } else {
      call_data.give(sendbuf, sendcount, sendtype);
    }
    if (call_data.rank() == root) call_data.get_all(all);
  };
}

// `all`: where the blocks of all ranks come from.
inline auto scatter(const Pieces& all, const void* recvbuf, int recvcount, MPI_Datatype recvtype,
                    int root) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::scatter, .root = root};
    if (call_data.rank() == root) call_data.give_all(all);
    call_data.get(recvbuf, recvcount, recvtype);
  };
}

inline auto alltoall(const void* sendbuf, const Pieces& send, const Pieces& receive) {
  return [=](CallData& call_data) {
    call_data.pattern = {.kind = Pattern::Kind::exchange};
    call_data.give_all(sendbuf == MPI_IN_PLACE ? receive : send);
    call_data.get_all(receive);
  };
}

// One block for all neighbors: nobody reads it where there are none.
inline auto neighbor_allgather(MPI_Comm comm, const void* sendbuf, int sendcount,
                               MPI_Datatype sendtype, const Pieces& receive) {
  return [=](CallData& call_data) {
    const Neighbors neighbors = neighbors_of(comm);
    const auto& to = neighbors.destinations;
    call_data.pattern = {.kind = Pattern::Kind::neighbors};
    if (std::any_of(to.begin(), to.end(), [](int rank) { return rank != MPI_PROC_NULL; }))
      call_data.give(sendbuf, sendcount, sendtype);
    call_data.get_all_of_each(neighbors, receive);
  };
}

inline auto neighbor_alltoall(MPI_Comm comm, const Pieces& send, const Pieces& receive) {
  return [=](CallData& call_data) {
    const Neighbors neighbors = neighbors_of(comm);
    call_data.pattern = {.kind = Pattern::Kind::neighbors};
    call_data.give_each(neighbors, send);
    call_data.get_each(neighbors, receive);
  };
}

}  // namespace call_data_of
}  // namespace resprout::shim
