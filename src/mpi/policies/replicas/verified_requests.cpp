#include "mpi/policies/replicas/verified_requests.hpp"

#include <utility>

#include "mpi/handles/errors/codes.hpp"

namespace resprout::shim {

VerifiedRequests::VerifiedRequests(int count, const MPI_Request* requests)
    : messages_(verified_messages.load(std::memory_order_acquire)), requests_(requests) {
  if (messages_ == nullptr || count <= 0) return;
  receives_ = receives();
  claims_.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    Claims& claims = at(i);
    claims.message = messages_->claim(requests[i]);
    if (receives_ != nullptr) claims.receive = receives_->claim(requests[i]);
    claims.collective = claim_compared(requests[i]);
    claims.lone = claim_lone_start(requests[i]);
  }
}

VerifiedRequests::~VerifiedRequests() {
  for (std::size_t i = 0; i < claims_.size(); ++i) give_back(static_cast<int>(i));
}

void VerifiedRequests::give_back(int i) {
  Claims& claims = at(i);
  if (std::exchange(claims.is_given_back, true)) return;
  messages_->give_back(claims.message, requests_[i]);
  if (receives_ != nullptr) receives_->give_back(claims.receive, requests_[i]);
  give_back_compared(claims.collective, requests_[i]);
  settle_lone_start(claims.lone, requests_[i]);
}

void VerifiedRequests::note_over(int code, int count, const int* indices,
                                 const MPI_Status* statuses) {
  if (messages_ == nullptr || count <= 0) return;
  std::vector<bool> is_over(claims_.size());
  for (int k = 0; k < count; ++k) {
    const int i = indices != nullptr ? indices[k] : k;
    const int error = code == MPI_ERR_IN_STATUS ? statuses[k].MPI_ERROR : code;
    if (is_loss(error) || error == MPI_ERR_PENDING) continue;
    const auto held_back = [&]() -> std::optional<Messages::HeldBack> {
      const Receives::Claim& receive = at(i).receive;
      if (!receive) return std::nullopt;
      return Messages::HeldBack{receives_->taken_by(receive)};
    };
    messages_->note_taken(at(i).message, held_back, statuses[k]);
  }
  for (int k = 0; k < count; ++k)
    is_over[static_cast<std::size_t>(indices != nullptr ? indices[k] : k)] = true;
  for (std::size_t i = 0; i < is_over.size(); ++i)
    if (!is_over[i]) give_back(static_cast<int>(i));
}

int VerifiedRequests::complete(int i, MPI_Request after, MPI_Status& status) {
  if (messages_ == nullptr) return MPI_SUCCESS;
  Claims& claims = at(i);
  claims.is_given_back = true;
  const int code =
      receives_ != nullptr ? receives_->complete(claims.receive, after, status) : MPI_SUCCESS;
  messages_->complete(claims.message, after, status);
  complete_compared(claims.collective, after);
  settle_lone_start(claims.lone, after);
  return code;
}

int VerifiedRequests::recover(int code, int i, MPI_Request after, MPI_Status& status) {
  if (messages_ == nullptr || !is_loss(code)) return code;
  const Claims& claims = at(i);
  if (claims.lone) claims.lone.entry->end();
  if (claims.collective && claims.collective.entry->substituted()) return code;
  return messages_->recover(claims.message, after, status) ? MPI_SUCCESS : code;
}

std::optional<Messages::HeldBack> held_back_by_receives(MPI_Request request) {
  Receives* by = receives();
  if (by == nullptr || !by->is_active(request)) return std::nullopt;
  return Messages::HeldBack{by->taken_by(request)};
}

}  // namespace resprout::shim
