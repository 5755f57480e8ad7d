// Neighborhood collectives as messages between neighbors: what the MPI library makes of them, too,
// but for what a loss does. The library ends those of a communicator for all of its members once
// one is lost, and ours among all members cannot take over then: who has no lost neighbor would not
// know, and wait for who has one. So these carry them from the first call on. Who has a lost
// neighbor gets what the living ones give, and MPIX_ERR_PROC_FAILED; nobody else hears of it.
//
// The messages go over a communicator of their own, which no loss interrupts. They are told apart
// by the number of the persistent collective that they are of, and by that of the block between the
// two neighbors; those of all others come in the order of the calls.
//
// Thread rule: as MPI's collectives: one at a time on a communicator.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "mpi/carriers/started/collective.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/policies/call_data.hpp"

namespace resprout::shim {

// The messages of one call.
class NeighborMessages {
 public:
  // `number`: of the persistent collective; 0: of none. REQUIRES: the communicator has neighbors'
  // carrier, and the pattern's kind is `neighbors`.
  NeighborMessages(MPI_Comm comm, const CallData& call_data, int number);

  // All are over.
  bool advance();
  // REQUIRES: all are over.
  int code() const { return code_; }

 private:
  void receive(const Piece& piece, const Way& way, int number);
  void send(const Piece& piece, const Way& way, int number);
  void note(int code);

  MPI_Comm comm_;
  MPI_Comm carrier_;
  std::vector<MPI_Request> requests_;
  int code_ = MPI_SUCCESS;
};

// The messages of a neighborhood collective that the program does not wait for.
class NeighborMessaging final : public Collective {
 public:
  NeighborMessaging(runtime::Session& session, MPI_Comm comm, CallData call_data, int number)
      : Collective(session), comm_(comm), call_data_(std::move(call_data)), number_(number) {
    leave_to_program();
  }

  bool uses(MPI_Datatype datatype) const override;

 private:
  void begin(runtime::Started&) override { messages_.emplace(comm_, call_data_, number_); }
  bool is_ready(runtime::Started&) override { return messages_->advance(); }
  void take(std::span<const std::byte>) override {}
  int code() const override { return messages_->code(); }
  bool is_of_session() const override { return false; }

  const MPI_Comm comm_;
  const CallData call_data_;
  const int number_;
  std::optional<NeighborMessages> messages_;
};

}  // namespace resprout::shim
