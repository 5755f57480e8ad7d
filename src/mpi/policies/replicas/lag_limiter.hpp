// Where a call of the program waits when its process is too far ahead of its replicas.
//
// Waiting is at the beginning of a call that sends, receives or is a collective, before MPI hears
// of it. MPI goes on meanwhile: others of this plane get what they wait for from this process. The
// links to the other planes have a thread of their own.
//
// Thread rule: from any thread (runtime/replicas/lag.hpp says what several are to it).
#pragma once

#include <cstdint>
#include <functional>

#include "mpi/policies/replicas/decided.hpp"
#include "runtime/replicas/lag.hpp"

namespace resprout::shim {

class LagLimiter {
 public:
  // `copies_of_a_byte`: other planes keep so many of each byte that is sent.
  LagLimiter(runtime::Lag& lag, std::uint64_t copies_of_a_byte, std::function<void()> meanwhile)
      : lag_(lag), copies_of_a_byte_(copies_of_a_byte), meanwhile_(std::move(meanwhile)) {}

  // For a message of so many bytes that is about to be sent, and is sent then.
  void wait_and_count_sent(std::uint64_t bytes) {
    wait(1, bytes * copies_of_a_byte_);
    lag_.count(1, bytes * copies_of_a_byte_);
  }
  // For one that is about to be received.
  void wait_for_receive() { wait(1, 0); }
  // MPI has brought it, and the program has asked for it.
  void count_received() { lag_.count(1, 0); }
  // For what is given to a collective and got from it.
  void wait_for_collective() { wait(2, 0); }
  void count_compared() { lag_.count(1, 0); }

 private:
  // What was found out and not said, others may be waiting for.
  void wait(std::uint64_t messages, std::uint64_t copies) {
    const auto flush = [] {
      if (Decided* by = decided.load(std::memory_order_acquire)) by->flush();
    };
    lag_.wait_for_room(messages, copies, flush, meanwhile_);
  }

  runtime::Lag& lag_;
  const std::uint64_t copies_of_a_byte_;
  const std::function<void()> meanwhile_;
};

}  // namespace resprout::shim
