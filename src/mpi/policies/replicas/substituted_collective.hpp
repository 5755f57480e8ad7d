// One collective, in any form, where siblings stand in for who is lost (replica_substitution.hpp).
//
// The call itself is carried as ever: in a plane with a gap, among the living. What this rank gives
// to it is kept before, under the number of the call. Behind it, what the lost should have given is
// asked for and put where it belongs; a reduction takes the result of a replica whose plane has no
// gap, or is worked out anew of what all have given. On a communicator that was made after a loss
// that is so though all its members live: in other planes the MPI library may carry it, and add up
// in another order.
//
// Neighborhood collectives are nobody's but this: each block is asked for, of the living, too.
//
// With verification (compared.hpp) what is kept was verified before, and what this rank gets is
// compared with its replicas where it was all made inside of this plane. What others have said
// proves nothing.
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpi/handles/operators/reproducible.hpp"
#include "mpi/policies/call_data.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"

namespace resprout::runtime {
class Session;
struct Outcome;
}  // namespace resprout::runtime

namespace resprout::shim {

class Comparison;

class SubstitutedCollective {
 public:
  // `call`: its lower-case MPI name, a string literal. `request`: which persistent one of its
  // communicator it is, from 1: those are numbered apart, as ranks may start them in any order; 0:
  // none.
  SubstitutedCollective(ReplicaSubstitution& by, MPI_Comm comm, const char* call,
                        std::uint64_t request = 0);

  // Null: nobody can ask for it, as its communicator has no name or no other member.
  CallData* call_data() { return call_data_ ? &*call_data_ : nullptr; }
  // It begins: what it means is known, and nothing was written yet. A persistent one does so again
  // and again.
  void begin();
  // The session has run it: who is missing in what it came to.
  void note(const runtime::Session& session, const runtime::Outcome& outcome);
  // Of a neighborhood collective: takes what has come. True: all has.
  bool maybe_put_neighbors();
  // It is over, as far as the living have come: on a thread of the program. `comparison`: its own,
  // that ends, too; null: it is not compared.
  void end(Comparison* comparison);

 private:
  using Of = runtime::Stream::Of;

  runtime::MessageName name(Of of, int rank, int part) const;
  void keep_contribution();
  // Of the communicator, ascending.
  std::vector<int> missing() const;
  bool is_complete(const std::vector<int>& missing) const;
  void fill(const std::vector<int>& missing);
  void put_block(int rank, int part, const Piece& piece);
  void put_blocks(const std::vector<int>& missing);
  void keep_for_neighbors();
  bool maybe_put_neighbor(std::size_t i);
  void recall_reduction();
  std::vector<std::byte> combined(const std::vector<std::vector<std::byte>>& others, int end) const;
  void put_result(std::span<const std::byte> sum);
  std::optional<SumForm> form_of_sum() const;
  void put_sum(const std::vector<std::vector<std::byte>>& others, const SumForm& form);

  ReplicaSubstitution& by_;
  const char* const call_;
  std::vector<int> world_ranks_;
  bool is_derived_ = false;
  std::uint64_t communicator_ = 0;
  std::uint64_t number_ = 0;
  std::optional<CallData> call_data_;
  bool is_delivered_ = true;          // as the session has run it last
  std::vector<int> missing_;          // likewise: ranks of the communicator
  std::vector<std::size_t> awaited_;  // blocks of neighbors
  bool is_own_ = true;                // all of these so far are of this plane
};

// For the blocking one that this thread is in. Nothing where nobody stands in.
void note_outcome(const runtime::Session& session, const runtime::Outcome& outcome);

// A blocking one, from entry to return.
class SubstitutedCall {
 public:
  // `describe(call_data)` says what the arguments mean. `comparison`: as SubstitutedCollective::end
  // has it.
  template <typename Description>
  SubstitutedCall(MPI_Comm comm, const char* call, const Description& describe,
                  Comparison* comparison = nullptr)
      : comparison_(comparison) {
    ReplicaSubstitution* by = replica_substitution.load(std::memory_order_acquire);
    if (by == nullptr || comm == MPI_COMM_NULL) [[likely]]
      return;
    collective_ = std::make_unique<SubstitutedCollective>(*by, comm, call);
    if (CallData* call_data = collective_->call_data()) describe(*call_data);
    enter(*collective_);
  }
  ~SubstitutedCall() {
    if (collective_) [[unlikely]]
      leave(*collective_, comparison_);
  }
  bool is_substituted() const { return collective_ != nullptr; }
  // There is nothing to do for it, but to wait for its end.
  bool is_of_neighbors() const { return collective_ && is_of_neighbors(*collective_); }
  SubstitutedCall(const SubstitutedCall&) = delete;
  SubstitutedCall& operator=(const SubstitutedCall&) = delete;

 private:
  static void enter(SubstitutedCollective& collective);
  static void leave(SubstitutedCollective& collective, Comparison* comparison);
  static bool is_of_neighbors(SubstitutedCollective& collective);

  Comparison* const comparison_;
  std::unique_ptr<SubstitutedCollective> collective_;
};

}  // namespace resprout::shim
