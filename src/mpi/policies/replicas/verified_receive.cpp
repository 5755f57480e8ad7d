#include "mpi/policies/replicas/verified_receive.hpp"

#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/policies/replicas/receives.hpp"

namespace resprout::shim {

// Siblings say what they have received when they complete it: to wait for that here would be too
// early.
int VerifiedReceive::recover_started(int code, MPI_Request* request) {
  if (!ticket_ || !is_loss(code)) return code;
  const bool is_open = messages_->wait_until_sent(*ticket_, buffer_, status_);
  if (!is_open) messages_->recover(*ticket_, buffer_, status_);
  status_.MPI_SOURCE = source_;
  Receives::Call call{buffer_.data, buffer_.count, buffer_.datatype, source_, status_.MPI_TAG};
  if (is_open) call.message = ticket_;
  const int started = receives()->start_received(status_, request, call);
  if (is_open && started == MPI_SUCCESS) go_on_as(*request);
  return started;
}

int VerifiedReceive::recover(int code, MPI_Status* of_program) {
  if (!ticket_ || !is_loss(code) || !messages_->recover(*ticket_, buffer_, status_)) return code;
  status_.MPI_SOURCE = source_;
  copy_status(status_, of_program);
  return MPI_SUCCESS;
}

void VerifiedReceive::complete(MPI_Status* of_program) {
  if (!ticket_) return;
  messages_->complete(*ticket_, buffer_, status_);
  copy_status(status_, of_program);
}

}  // namespace resprout::shim
