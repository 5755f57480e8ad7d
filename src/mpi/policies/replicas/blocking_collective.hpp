// What the policies do beside a blocking collective: flips, comparison, and what siblings say.
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "mpi/policies/inject/flipped_given.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/policies/replicas/substituted_collective.hpp"

namespace resprout::shim {

// One blocking collective, from entry to return.
class Compared {
 public:
  // `describe(call_data)` says what the arguments mean. Called before anything is sent or received.
  template <typename Description>
  Compared(MPI_Comm comm, const char* call, const Description& describe)
      : flipped_(comm, call, describe),
        comparison_(started(comm, call, describe)),
        substituted_(comm, call, describe, comparison_.get()) {}
  ~Compared() {
    if (comparison_ && !substituted_.is_substituted()) [[unlikely]]
      comparison_->end();
  }
  // It is for `substituted_collective.hpp` alone.
  bool is_of_neighbors() const { return substituted_.is_of_neighbors(); }
  Compared(const Compared&) = delete;
  Compared& operator=(const Compared&) = delete;

 private:
  template <typename Description>
  static std::unique_ptr<Comparison> started(MPI_Comm comm, const char* call,
                                             const Description& describe) {
    Comparing* by = comparing.load(std::memory_order_acquire);
    if (by == nullptr || comm == MPI_COMM_NULL) [[likely]]
      return nullptr;
    auto comparison = std::make_unique<Comparison>(*by, comm, call);
    if (CallData* call_data = comparison->call_data()) describe(*call_data);
    comparison->start();
    return comparison;
  }

  const FlippedGiven flipped_;  // before all else that looks at it
  const std::unique_ptr<Comparison> comparison_;
  const SubstitutedCall substituted_;  // keeps what is right by then
};

}  // namespace resprout::shim
