// What a thread does inside of MPI. What the program runs there, as in an operator of its own, must
// not wait for anybody; and who waits there for long says for whom (lifecycle/report/waiting.hpp).
//
// Thread rule: each thread has its own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>

#include "mpi/process/fast_thread_local.hpp"

namespace resprout::shim {

// One call of MPI.
struct CurrentCall {
  // Without whom it cannot end.
  enum class Needs : std::uint8_t { unknown, peer, members };

  const char* name = nullptr;     // the lower-case MPI name, a string literal; null: none
  MPI_Comm comm = MPI_COMM_NULL;  // null handle: it is on none, or on several
  Needs needs = Needs::unknown;
  int peer = MPI_PROC_NULL;  // rank in `comm`, or MPI_ANY_SOURCE
};

class InsideCall {
 public:
  explicit InsideCall(const CurrentCall& call = {}) : call_(call), outer_(innermost) {
    innermost = this;
  }
  ~InsideCall() { innermost = outer_; }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;

  void needs_peer(int peer) {
    call_.needs = CurrentCall::Needs::peer;
    call_.peer = peer;
  }

  // While one lives, this thread is in none: a handler of the program's runs, which may never come
  // back here, as with longjmp.
  class Left {
   public:
    Left() : outer_(std::exchange(innermost, nullptr)) {}
    ~Left() { innermost = outer_; }
    Left(const Left&) = delete;
    Left& operator=(const Left&) = delete;

   private:
    const InsideCall* const outer_;
  };

  static bool is_any() { return innermost != nullptr; }
  // The one of the program that this thread is in. REQUIRES: is_any().
  static const CurrentCall& of_program() {
    const InsideCall* inside = innermost;
    while (inside->outer_ != nullptr && inside->outer_->call_.name != nullptr)
      inside = inside->outer_;
    return inside->call_;
  }

 private:
  constinit static inline RESPROUT_FAST_THREAD_LOCAL const InsideCall* innermost = nullptr;

  CurrentCall call_;
  const InsideCall* const outer_;
};

}  // namespace resprout::shim
