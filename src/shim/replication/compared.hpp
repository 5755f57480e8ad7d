// Collectives of replicated ranks: what a rank gives to one and what it gets from it is compared
// with its replicas.
//
// A collective is the MPI library's own inside of a plane, so corruption stays in its plane: a
// wrong contribution makes the results of that plane wrong, and those of no other. Which rank's
// contribution differs is where it began; whose results differ is tainted. Collectives of a
// communicator are numbered in the order of their calls, which is the same in all planes, whatever
// their kind. Only digests are compared, nothing is replaced: a plane that is wrong has no use for
// one right result.
//
// With an eager method a call returns when both are verified; with a lazy one at once.
// Lazy Fault Detection for Redundant MPI, chapters 3 and 4, for collectives as a whole; RedMPI and
// the paper make them of messages.
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/replicas/verifier.hpp"
#include "shim/collectives/pieces.hpp"
#include "shim/replication/room.hpp"

namespace resprout::shim {

// What one rank gives and gets. Arguments that MPI would not accept are passed over.
class Sides {
 public:
  Sides(int rank, int size) : rank_(rank), size_(size) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  void give(const void* buffer, int count, MPI_Datatype datatype) {
    add(given_, buffer, count, datatype);
  }
  void get(const void* buffer, int count, MPI_Datatype datatype) {
    add(got_, buffer, count, datatype);
  }
  // What MPI_IN_PLACE means to reductions and gathers.
  void give(const void* sendbuf, const void* recvbuf, int count, MPI_Datatype datatype) {
    give(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, datatype);
  }
  void give_own(const Pieces& pieces) {
    if (pieces.are_valid(size_)) given_.push_back(pieces.of(rank_));
  }
  void give_all(const Pieces& pieces) { add_all(given_, pieces); }
  void get_all(const Pieces& pieces) { add_all(got_, pieces); }

  const std::vector<Piece>& given() const { return given_; }
  const std::vector<Piece>& got() const { return got_; }

 private:
  static void add(std::vector<Piece>& to, const void* buffer, int count, MPI_Datatype datatype);
  void add_all(std::vector<Piece>& to, const Pieces& pieces) const;

  int rank_;
  int size_;
  std::vector<Piece> given_;
  std::vector<Piece> got_;
};

struct Comparing {
  runtime::Verifier* verifier = nullptr;
  Room* room = nullptr;  // null: it may be as far ahead of its replicas as it likes
  bool is_lazy = false;
  int rank = 0;                           // of this process in the world
  void (*meanwhile)() = nullptr;          // while a call waits for its verdict
  std::atomic<std::uint64_t> skipped{0};  // calls on communicators that have no name
};
// Null: collectives are not compared. Set between two MPI calls of the program.
inline std::atomic<Comparing*> comparing{nullptr};

// One blocking collective, from entry to return.
class Compared {
 public:
  // `describe(sides)` says what the arguments mean. Called before anything is sent or received.
  template <typename Describe>
  Compared(MPI_Comm comm, const char* call, Describe describe)
      : by_(comparing.load(std::memory_order_acquire)) {
    if (by_ == nullptr) [[likely]]
      return;
    if (!begin(comm, call)) return;
    describe(*sides_);
    compare(runtime::Stream::Of::contributions, sides_->given());
  }
  ~Compared() {
    if (sides_) [[unlikely]]
      end();
  }
  Compared(const Compared&) = delete;
  Compared& operator=(const Compared&) = delete;

 private:
  bool begin(MPI_Comm comm, const char* call);
  void compare(runtime::Stream::Of of, const std::vector<Piece>& pieces);
  void end();

  Comparing* by_;
  std::optional<Sides> sides_;
  const char* call_ = "";
  runtime::MessageName name_;
  std::vector<runtime::MessageName> awaited_;
};

}  // namespace resprout::shim
