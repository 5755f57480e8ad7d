// A receive within one call, as its message is verified or said by siblings.
//
// Thread rule: one thread at a time.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/policies/replicas/messages.hpp"

namespace resprout::shim {

// Made before MPI gets it, completed when MPI has.
class VerifiedReceive {
 public:
  VerifiedReceive(const ReceiveBuffer& buffer, MPI_Comm comm, int source, int tag)
      : messages_(verified_messages.load(std::memory_order_acquire)),
        buffer_(buffer),
        source_(source) {
    if (messages_ != nullptr) ticket_ = messages_->post(comm, source, tag);
  }
  // Of a message from `source` that was matched before.
  VerifiedReceive(const ReceiveBuffer& buffer, MPI_Message message, int source)
      : messages_(verified_messages.load(std::memory_order_acquire)),
        buffer_(buffer),
        source_(source) {
    if (messages_ != nullptr) ticket_ = messages_->take(message);
  }

  // What MPI is given for the program's.
  MPI_Status* status(MPI_Status* of_program) { return ticket_ ? &status_ : of_program; }
  // MPI has received it.
  void complete(MPI_Status* of_program);
  // MPI ended it with this code: what the call returns. `of_program` is written if it came all the
  // same.
  int recover(int code, MPI_Status* of_program);
  // The same of what the program completes later, under the request that it gets.
  int recover_started(int code, MPI_Request* request);
  // Nothing: it is not verified.
  std::optional<Messages::Ticket> ticket() const { return ticket_; }
  // MPI has started it.
  void go_on_as(MPI_Request request) {
    const bool is_unknown = messages_ != nullptr && messages_->is_substituting() && source_ >= 0;
    if (ticket_ || is_unknown) messages_->remember(request, ticket_, buffer_, source_);
  }

 private:
  Messages* messages_;
  const ReceiveBuffer buffer_;
  const int source_;
  std::optional<Messages::Ticket> ticket_;
  MPI_Status status_{};
};

}  // namespace resprout::shim
