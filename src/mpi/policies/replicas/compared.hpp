// Collectives of replicated ranks: what a rank gives to one and what it gets from it is compared
// with its replicas.
//
// A collective is the MPI library's own inside of a plane, so corruption stays in its plane: a
// wrong contribution makes the results of that plane wrong, and those of no other. Which rank's
// contribution differs is where it began; whose results differ is tainted. Collectives of a
// communicator are numbered in the order of their calls, which is the same in all planes, whatever
// their kind.
//
// With an eager method a collective begins when what this rank gives to it is verified; where it is
// out-voted, what the majority gives is written over it, in the program's memory. The call returns
// when what it has left is verified, too. With a lazy method nothing is waited for or replaced: a
// plane that was wrong before has no use for one right contribution. Results are replaced by no
// method, for the same reason.
// Lazy Fault Detection for Redundant MPI, chapters 3 and 4, for collectives as a whole; RedMPI and
// the paper make them of messages.
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpi/policies/call_data.hpp"
#include "mpi/policies/replicas/lag_limiter.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/verifier.hpp"

namespace resprout::shim {

struct Comparing {
  runtime::Verifier* verifier = nullptr;
  LagLimiter* lag_limiter = nullptr;  // null: it may be as far ahead of its replicas as it likes
  bool is_lazy = false;
  bool keeps_given = false;               // for replicas that are out-voted
  bool lingers = false;                   // what is said does, unless this process waits
  int rank = 0;                           // of this process in the world
  void (*meanwhile)() = nullptr;          // while a call waits for its verdict
  std::atomic<std::uint64_t> skipped{0};  // calls on communicators that have no name

  // Of the next collective on the communicator of this name, from 1.
  std::uint64_t next_number(std::uint64_t communicator);
  // So many on each: for a program that goes back.
  runtime::SentStreams numbers();
  void set_numbers(const runtime::SentStreams& numbers);

 private:
  runtime::Mutex mutex_;
  runtime::SentStreams numbers_ RESPROUT_GUARDED_BY(mutex_);
};
// Null: collectives are not compared. Set between two MPI calls of the program.
inline std::atomic<Comparing*> comparing{nullptr};

// One collective, in any form. A persistent one is started again and again.
class Comparison {
 public:
  // `call`: its lower-case MPI name, a string literal.
  Comparison(Comparing& by, MPI_Comm comm, const char* call);

  // What is to be compared. Null: it is not, its communicator has no name.
  CallData* call_data() { return call_data_ ? &*call_data_ : nullptr; }
  // It is called, or started: nothing was sent or received yet. With an eager method returns when
  // what it gives is verified, and right.
  void start();
  // It is over: with an eager method returns when what it has got is verified.
  void end();
  // In place of end: what it has got, or is about to get, is what others have said
  // (substituted_collective.hpp).
  void abstain();

 private:
  runtime::MessageName name(runtime::Stream::Of of) const;
  void compare(runtime::Stream::Of of, const std::vector<Piece>& pieces);
  runtime::Verifier::Delivery wait(const runtime::MessageName& name);
  void put_right_what_is_given();

  Comparing* by_;
  const char* call_;
  std::optional<CallData> call_data_;
  runtime::MessageName name_;
};

}  // namespace resprout::shim
